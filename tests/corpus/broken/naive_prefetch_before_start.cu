// entry: before
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds
// about: The last prefetch is of the word before the row.

__global__ void before(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0, a = A[i * K + K - 1], b = B[(K - 1) * N + j];
    for (int k = K - 1; k >= 0; --k) {
        s += a * b;
        a = A[i * K + k - 1];  // BUG
        if (k > 0) b = B[(k - 1) * N + j];
    }
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
