// entry: matmul
// grid: (-(-N // 15), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: Neighbouring blocks share a column, which both read and write.

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * (blockDim.x - 1) + threadIdx.x;  // BUG
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            sum += A[row * K + k] * B[k * N + col];
        }
        if (beta == 0)
            C[row * N + col] = alpha * sum;  // BUG: shows
        else
            C[row * N + col] = alpha * sum + beta * C[row * N + col];  // BUG: shows
    }
}
