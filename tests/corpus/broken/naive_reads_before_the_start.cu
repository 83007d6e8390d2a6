// entry: matmul
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: k - 1 is -1 in the first step.

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            sum += A[row * K + k - 1] * B[(k - 1) * N + col];  // BUG
        }
        if (beta == 0)
            C[row * N + col] = alpha * sum;
        else
            C[row * N + col] = alpha * sum + beta * C[row * N + col];
    }
}
