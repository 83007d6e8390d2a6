// entry: matmul
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: endless-loop, wrong-values
// about: k is never increased.

__global__ void matmul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0;
        for (int k = 0; k < K;) {  // BUG
            sum += A[row * K + k] * B[k * N + col];  // BUG: shows
        }
        if (beta == 0)
            C[row * N + col] = alpha * sum;
        else
            C[row * N + col] = alpha * sum + beta * C[row * N + col];
    }
}
