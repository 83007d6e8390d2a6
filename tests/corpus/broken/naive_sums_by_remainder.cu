// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds, uninitialized, wrong-values
// about: Four sums, but the remainder of a division by five chooses among them.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc[4] = {0, 0, 0, 0};
    for (int k = 0; k < K; ++k) acc[k % 5] += A[row * K + k] * B[k * N + col];  // BUG
    float sum = acc[0] + acc[1] + acc[2] + acc[3];
    C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
}
