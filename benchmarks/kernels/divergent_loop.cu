// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: A thread skips every third round by `continue`, not the same as its neighbour, and sums those afterwards.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        if ((k + col) % 3 == 0) continue;
        acc += A[row * K + k] * B[k * N + col];
    }
    for (int k = 0; k < K; ++k) {
        if ((k + col) % 3 != 0) continue;
        acc += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
