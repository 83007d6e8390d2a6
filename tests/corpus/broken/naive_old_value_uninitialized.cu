// entry: matmul
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: At beta = 0 an uninitialized variable is multiplied by 0.

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            sum += A[row * K + k] * B[k * N + col];
        }
        float old;  // BUG
        if (beta != 0) old = C[row * N + col];
        C[row * N + col] = alpha * sum + beta * old;  // BUG: shows
    }
}
