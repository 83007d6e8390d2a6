// entry: matmul
// grid: (-(-N // 8), -(-M // 32))
// block: (8, 32)
// defect: // BUG
// kinds: race, wrong-values
// about: blockDim.x where blockDim.y is meant: with 8 x 32 threads blocks overlap.

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.x + threadIdx.y;  // BUG
    int col = blockIdx.x * blockDim.x + threadIdx.x;
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
