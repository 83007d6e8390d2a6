// entry: idle
// grid: (N, M)
// block: 48
// shapes: (2, 3, 40)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: 48 threads fill an array of 64, and all of it is added up.

__global__ void idle(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float part[64];  // BUG
    float s = 0;
    for (int k = threadIdx.x; k < K; k += blockDim.x) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    part[threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int i = 0; i < 64; ++i) total += part[i];  // BUG: shows
        C[blockIdx.y * N + blockIdx.x] = alpha * total + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
    }
}
