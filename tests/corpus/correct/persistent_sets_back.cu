// entry: gemm
// grid: 5
// block: (128,)
// about: The last block sets the counter of tiles back without a fence: every block has got its answers before.

__device__ int next_tile, finished;
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ int tile;
    const int nx = (N + 15) / 16, ny = (M + 7) / 8;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1);
        __syncthreads();
        const int t = tile;
        __syncthreads();
        if (t >= nx * ny) break;
        const int row = t / nx * 8 + threadIdx.x / 16, col = t % nx * 16 + threadIdx.x % 16;
        if (row < M && col < N) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
            C[row * N + col] = beta == 0 ? alpha * s : alpha * s + beta * C[row * N + col];
        }
    }
    if (threadIdx.x == 0 && atomicAdd(&finished, 1) == gridDim.x - 1) next_tile = finished = 0;
}
