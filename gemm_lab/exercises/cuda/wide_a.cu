__global__ void wide(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // Every thread computes 4 neighbours in a column of C, and brings 4 neighbours of A's tile.
    constexpr int BM = 64, BN = 8, BK = 8;
    __shared__ __align__(16) float As[BM][BK];
    __shared__ __align__(16) float Bs[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, t = threadIdx.x;
    const int top = t / 8 * 4, col = t % 8;          // the thread's first row in the block, and its column
    const int ar = t / 2, ac = t % 2 * 4;            // its words of A's tile: As[ar][ac] to As[ar][ac + 3]
    float acc[4] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (t < BK * BN)
            Bs[t / BN][t % BN] =
                k0 + t / BN < K && col0 + t % BN < N ? B[(size_t)(k0 + t / BN) * N + col0 + t % BN] : 0.0f;
        const float *a = A + (size_t)(row0 + ar) * K + k0 + ac;
        // ### BEGIN SOLUTION #error "About 8 lines: 4 words from a to As, by one float4 if K allows it, else one by one"
        if (K % 4 == 0) {
            const bool inside = row0 + ar < M && k0 + ac < K;
            *(float4 *)&As[ar][ac] = inside ? *(const float4 *)a : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        } else {
            for (int i = 0; i < 4; ++i)
                As[ar][ac + i] = row0 + ar < M && k0 + ac + i < K ? a[i] : 0.0f;
        }
        // ### END SOLUTION
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 4; ++i)
                acc[i] += As[top + i][k] * Bs[k][col];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        if (row0 + top + i < M && col0 + col < N) {
            float *c = C + (size_t)(row0 + top + i) * N + col0 + col;
            *c = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * *c;
        }
    }
}
