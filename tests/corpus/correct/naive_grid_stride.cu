// entry: gemm
// grid: (2, 2)
// block: (16, 8)
// about: Grid-stride loops in both directions; the grid does not depend on the matrix.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < M; row += gridDim.y * blockDim.y) {
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < N; col += gridDim.x * blockDim.x) {
            float acc = 0.0f;
            for (int k = 0; k < K; ++k)
                acc += A[row * K + k] * B[k * N + col];
            float old = beta == 0.0f ? 0.0f : C[row * N + col];
            C[row * N + col] = alpha * acc + beta * old;
        }
    }
}
