// entry: lanesx
// grid: (N, M)
// block: (16, 4)
// shapes: (2, 3, 70)
// defect: // BUG
// kinds: wrong-values
// about: A row of the block is half a warp, and is taken for one.

__global__ void lanesx(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sums[4];
    float s = 0;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < K; k += 64) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);  // BUG
    if (threadIdx.x == 0) sums[threadIdx.y] = s;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
        C[blockIdx.y * N + blockIdx.x] = alpha * (sums[0] + sums[1] + sums[2] + sums[3]) + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
