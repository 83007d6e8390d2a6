// entry: gemm
// grid: (-(-N // 32), -(-M // 2))
// block: (32, 2)
// about: Eight sums in an array whose index is known only at run time, so it lies in local memory.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 2 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float sums[8];
    for (int n = 0; n < 8; ++n) sums[n] = 0.0f;
    for (int k = 0; k < K; ++k) sums[(k + col) % 8] += A[row * K + k] * B[k * N + col];
    float acc = 0.0f;
    for (int n = 0; n < 8; ++n) acc += sums[(n + row) % 8];
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
