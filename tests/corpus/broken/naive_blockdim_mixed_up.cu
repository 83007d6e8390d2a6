// entry: matmul
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// defect: // BUG
// kinds: wrong-values
// about: blockDim.x where blockDim.y is meant: with 32 x 8 threads rows are left out.

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.x + threadIdx.y;  // BUG
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
