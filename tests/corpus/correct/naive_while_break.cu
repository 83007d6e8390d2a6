// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: An endless-looking loop with continue and break; rows that lie outside are skipped late.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float even = 0.0f, odd = 0.0f;
    int k = -1;
    while (true) {
        if (row >= M || col >= N) break;
        ++k;
        if (k >= K) break;
        if (k & 1) {
            odd += A[row * K + k] * B[k * N + col];
            continue;
        }
        even += A[row * K + k] * B[k * N + col];
    }
    if (k < 0) return;
    float acc = even + odd;
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
