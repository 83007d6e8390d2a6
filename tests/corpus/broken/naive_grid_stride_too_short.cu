// entry: gemm
// grid: (2, 2)
// block: (16, 8)
// defect: // BUG
// kinds: race, wrong-values
// about: The stride is a block, not the grid, so blocks do the same rows.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < M; row += blockDim.y) {  // BUG
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < N; col += gridDim.x * blockDim.x) {
            float acc = 0.0f;
            for (int k = 0; k < K; ++k)
                acc += A[row * K + k] * B[k * N + col];
            float old = beta == 0.0f ? 0.0f : C[row * N + col];  // BUG: shows
            C[row * N + col] = alpha * acc + beta * old;  // BUG: shows
        }
    }
}
