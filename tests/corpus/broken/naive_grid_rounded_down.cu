// entry: matmul
// grid: (max(1, N // 16), max(1, M // 16))
// block: (16, 16)
// line: none
// defect: // BUG
// kinds: wrong-values
// about: The grid is rounded down: the ragged edge is left out.

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            sum += A[row * K + k] * B[k * N + col];
        }
        if (beta == 0)
            C[row * N + col] = alpha * sum;
        else
            C[row * N + col] = alpha * sum + beta * C[row * N + col];
    }
}
