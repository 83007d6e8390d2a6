__global__ void wide(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // Every thread computes 4 neighbours in a row of C, and brings 4 neighbours of B's tile.
    constexpr int BM = 8, BN = 64, BK = 8;
    __shared__ __align__(16) float As[BM][BK];
    __shared__ __align__(16) float Bs[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, t = threadIdx.x;
    const int row = t / 16, left = t % 16 * 4;       // the thread's row in the block, and its first column
    const int br = t / 16, bc = t % 16 * 4;          // its words of B's tile: Bs[br][bc] to Bs[br][bc + 3]
    float acc[4] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (t < BM * BK)
            As[t / BK][t % BK] =
                row0 + t / BK < M && k0 + t % BK < K ? A[(size_t)(row0 + t / BK) * K + k0 + t % BK] : 0.0f;
        const float *b = B + (size_t)(k0 + br) * N + col0 + bc;
        // ### BEGIN SOLUTION #error "About 8 lines: 4 words from b to Bs, by one float4 if N allows it, else one by one"
        if (N % 4 == 0) {
            const bool inside = k0 + br < K && col0 + bc < N;
            *(float4 *)&Bs[br][bc] = inside ? *(const float4 *)b : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        } else {
            for (int i = 0; i < 4; ++i)
                Bs[br][bc + i] = k0 + br < K && col0 + bc + i < N ? b[i] : 0.0f;
        }
        // ### END SOLUTION
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 4; ++i)
                acc[i] += As[row][k] * Bs[k][left + i];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        if (row0 + row < M && col0 + left + i < N) {
            float *c = C + (size_t)(row0 + row) * N + col0 + left + i;
            *c = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * *c;
        }
    }
}
