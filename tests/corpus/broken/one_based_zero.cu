// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: 32
// defect: // BUG
// kinds: out-of-bounds
// about: The loop starts at 0, as usual.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float storage[4], words[8];
    float *acc = storage - 1, *w = words - 4;
    const int col = blockIdx.x * 32 + threadIdx.x, row0 = blockIdx.y * 4;
    if (col >= N) return;
    for (int i = 0; i <= 4; ++i) acc[i] = 0.0f;  // BUG
    for (int k = 0; k < K; ++k) {
        w[4] = B[k * N + col];
        for (int i = 1; i <= 4 && row0 + i <= M; ++i) acc[i] += A[(row0 + i - 1) * K + k] * w[4];
    }
    for (int i = 1; i <= 4 && row0 + i <= M; ++i) {
        float *c = &C[(row0 + i - 1) * N + col];
        *c = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * *c;
    }
}
