__global__ void strip(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int BM = 32, BN = 32, BK = 8, TM = 8, THREADS = BM * BN / TM;
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int first = threadIdx.x / BN * TM;                   // the strip's first row in the block
    const int col = threadIdx.x % BN;                          // and its column
    float acc[TM] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int r = row0 + i / BK, k = k0 + i % BK;
            As[i / BK][i % BK] = r < M && k < K ? A[(size_t)r * K + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int k = k0 + i / BN, c = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && c < N ? B[(size_t)k * N + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k][col];
#pragma unroll
            for (int r = 0; r < TM; ++r)
                acc[r] += As[first + r][k] * b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < TM; ++r) {
        const int row = row0 + first + r;
        if (row < M && col0 + col < N) {
            float *c = C + (size_t)row * N + col0 + col;
            *c = beta == 0.0f ? alpha * acc[r] : alpha * acc[r] + beta * *c;
        }
    }
}
