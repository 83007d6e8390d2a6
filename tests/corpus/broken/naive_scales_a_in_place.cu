// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values, out-of-bounds
// about: Each thread multiplies its row of A by alpha, in place, so that a row is scaled once for each column.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float *a = const_cast<float *>(A) + row * K;
    for (int k = 0; k < K; ++k) a[k] *= alpha;  // BUG
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += a[k] * B[k * N + col];  // BUG: shows
    C[row * N + col] = beta == 0.0f ? acc : acc + beta * C[row * N + col];
}
