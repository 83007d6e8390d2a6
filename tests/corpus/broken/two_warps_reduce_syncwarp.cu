// entry: weak
// grid: (N, M)
// block: 64
// shapes: (2, 3, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: The values of the other warp are read after a __syncwarp.

__global__ void weak(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float part[64];
    float s = 0;
    for (int k = threadIdx.x; k < K; k += 64) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    part[threadIdx.x] = s;  // BUG: shows
    __syncwarp();  // BUG
    if (threadIdx.x < 32) {
        s = part[threadIdx.x] + part[threadIdx.x + 32];  // BUG: shows
        for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffff, s, d);
        if (threadIdx.x == 0) {
            float *c = C + blockIdx.y * N + blockIdx.x;
            *c = alpha * s + (beta == 0 ? 0 : beta * *c);
        }
    }
}
