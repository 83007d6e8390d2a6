// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: 64
// defect: // BUG
// kinds: wrong-values
// about: The second sum of a row takes the first column of B, the first of the next row the second.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][8], Bs[8][16];
    const int t = threadIdx.x, row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    const int tr = t % 8 * 2, tc = t / 8 * 2;
    float acc[2 * 2] = {0.f};
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int i = t; i < 16 * 8; i += 64) {
            As[i / 8][i % 8] = row0 + i / 8 < M && k0 + i % 8 < K ? A[(row0 + i / 8) * K + k0 + i % 8] : 0.f;
            Bs[i / 16][i % 16] = k0 + i / 16 < K && col0 + i % 16 < N ? B[(k0 + i / 16) * N + col0 + i % 16] : 0.f;
        }
        __syncthreads();
        for (int k = 0; k < 8; ++k)
            for (int e = 0; e < 4; ++e) acc[e] += As[tr + e / 2][k] * Bs[k][tc + e / 2];  // BUG
        __syncthreads();
    }
    for (int e = 0; e < 4; ++e) {
        const int row = row0 + tr + e / 2, col = col0 + tc + e % 2;
        if (row < M && col < N)
            C[row * N + col] = beta == 0.f ? alpha * acc[e] : alpha * acc[e] + beta * C[row * N + col];
    }
}
