// entry: forty
// grid: (N, M)
// block: 40
// shapes: (2, 3, 90)
// defect: // BUG
// kinds: barrier-divergence, wrong-values
// about: The mask names 32 lanes where the warp has eight.

__global__ void forty(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sums[2];
    float s = 0;
    for (int k = threadIdx.x; k < K; k += 40) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);  // BUG
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) C[blockIdx.y * N + blockIdx.x] = alpha * (sums[0] + sums[1]) + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
