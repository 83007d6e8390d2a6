// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: 256
// about: One shared array serves for the tiles and then, after a barrier, for the results, which leave row by row.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float pool[32 * 32];
    float *As = pool, *Bs = pool + 32 * 8, *Cs = pool;
    const int t = threadIdx.x, tr = t / 16 * 2, tc = t % 16 * 2;
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float acc[2][2] = {{0, 0}, {0, 0}};
    for (int k0 = 0; k0 < K; k0 += 8) {
        const int ar = t / 8, ak = t % 8, bk = t / 32, bc = t % 32;
        As[t] = row0 + ar < M && k0 + ak < K ? A[(row0 + ar) * K + k0 + ak] : 0.0f;
        Bs[t] = k0 + bk < K && col0 + bc < N ? B[(k0 + bk) * N + col0 + bc] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 8; ++k)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) acc[i][j] += As[(tr + i) * 8 + k] * Bs[k * 32 + tc + j];
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) Cs[(tr + i) * 32 + tc + j] = alpha * acc[i][j];
    __syncthreads();
    for (int i = t; i < 32 * 32; i += 256) {
        const int row = row0 + i / 32, col = col0 + i % 32;
        if (row < M && col < N) C[row * N + col] = beta == 0.0f ? Cs[i] : Cs[i] + beta * C[row * N + col];
    }
}
