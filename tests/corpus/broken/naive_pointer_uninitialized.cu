// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, out-of-bounds, wrong-values
// about: The pointer to row 0 is never set.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    const float *a;  // BUG
    if (row > 0) a = A + row * K;  // BUG
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += a[k] * B[k * N + col];  // BUG: shows
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
