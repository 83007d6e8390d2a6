// entry: gemm
// grid: 6
// block: 96
// about: Blocks take rows in strides of the grid, 24 threads copy a row of A and 96 take columns, also in strides: some
//        threads of a warp have one round more.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[512];
    for (int row = blockIdx.x; row < M; row += gridDim.x) {
        __syncthreads();
        if (threadIdx.x < 24)
            for (int k = threadIdx.x; k < K; k += 24) a[k] = A[row * K + k];
        __syncthreads();
        for (int col = threadIdx.x; col < N; col += 96) {
            float acc = 0.0f;
            for (int k = 0; k < K; ++k) acc += a[k] * B[k * N + col];
            C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
        }
    }
}
