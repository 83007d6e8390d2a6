// entry: matmul
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: The first kernel of most tutorials: int indices, one element for each thread.

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
