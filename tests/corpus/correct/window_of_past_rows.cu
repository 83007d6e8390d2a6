// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: 32
// about: Not a bug: a ring of four rows of A in a local array, filled step by step, read behind the write index.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int col = blockIdx.x * 32 + threadIdx.x, row0 = blockIdx.y * 4;
    if (col >= N) return;
    float ring[4][4], acc[4] = {0, 0, 0, 0};
    int filled = 0;
    for (int k = 0; k < K + 3; ++k) {
        if (k < K) {
            for (int i = 0; i < 4; ++i)
                if (row0 + i < M) ring[k & 3][i] = A[(row0 + i) * K + k];
            ++filled;
        }
        const int back = k - 3;
        if (back >= 0 && back < filled)
            for (int i = 0; i < 4 && row0 + i < M; ++i) acc[i] += ring[back & 3][i] * B[back * N + col];
    }
    for (int i = 0; i < 4 && row0 + i < M; ++i) {
        float *c = C + (row0 + i) * N + col;
        *c = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * *c;
    }
}
