// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: 64
// about: Four words are gathered one by one and stored to a tile by 128 bits; a thread computes 2 rows of 8 elements.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float4 As[32][4], Bs[16][8];
    const int t = threadIdx.x, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float acc[2][8] = {};
    auto word = [](const float *X, int rows, int columns, int r, int c) {
        return r < rows && c < columns ? X[r * columns + c] : 0.0f;
    };
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = t; i < 128; i += 64) {
            const int r = row0 + i / 4, c = k0 + i % 4 * 4, s = k0 + i / 8, d = col0 + i % 8 * 4;
            As[i / 4][i % 4] = make_float4(word(A, M, K, r, c), word(A, M, K, r, c + 1), word(A, M, K, r, c + 2),
                                           word(A, M, K, r, c + 3));
            Bs[i / 8][i % 8] = make_float4(word(B, K, N, s, d), word(B, K, N, s, d + 1), word(B, K, N, s, d + 2),
                                           word(B, K, N, s, d + 3));
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            const float *b = reinterpret_cast<const float *>(&Bs[k][t % 4 * 2]);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const float a = reinterpret_cast<const float *>(As[t / 4 * 2 + i])[k];
#pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] += a * b[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < 16; ++e) {
        const int row = row0 + t / 4 * 2 + e / 8, col = col0 + t % 4 * 8 + e % 8;
        if (row >= M || col >= N) continue;
        const float sum = alpha * acc[e / 8][e % 8];
        C[row * N + col] = beta == 0.0f ? sum : sum + beta * C[row * N + col];
    }
}
