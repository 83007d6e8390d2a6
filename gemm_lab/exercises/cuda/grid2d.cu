__global__ void grid2d(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // A thread computes TM x TN elements of C.
    constexpr int BM = 32, BN = 32, BK = 8, TM = 4, TN = 2;
    constexpr int THREADS = BM * BN / (TM * TN);
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int top = threadIdx.x / (BN / TN) * TM;              // the thread's first row in the block
    const int left = threadIdx.x % (BN / TN) * TN;             // and its first column
    float acc[TM][TN] = {};
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
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += As[top + i][k] * Bs[k][left + j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + top + i, c = col0 + left + j;
            if (r < M && c < N) {
                float *to = C + (size_t)r * N + c;
                *to = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *to;
            }
        }
}
