// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: 32
// about: Not a bug: local arrays counted from 1, as in other languages, through pointers that start one element early.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float storage[4], words[8];
    float *acc = storage - 1, *w = words - 4;
    const int col = blockIdx.x * 32 + threadIdx.x, row0 = blockIdx.y * 4;
    if (col >= N) return;
    for (int i = 1; i <= 4; ++i) acc[i] = 0.0f;
    for (int k = 0; k < K; ++k) {
        w[4] = B[k * N + col];
        for (int i = 1; i <= 4 && row0 + i <= M; ++i) acc[i] += A[(row0 + i - 1) * K + k] * w[4];
    }
    for (int i = 1; i <= 4 && row0 + i <= M; ++i) {
        float *c = &C[(row0 + i - 1) * N + col];
        *c = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * *c;
    }
}
