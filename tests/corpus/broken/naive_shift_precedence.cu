// entry: matmul
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: << binds less than +: 1 << 4 + y is 1 << (4 + y).

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y << 4 + threadIdx.y;  // BUG
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
