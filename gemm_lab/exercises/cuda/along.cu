__global__ void along(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // A thread computes a strip of TN elements of C that lie side by side in one row.
    constexpr int BM = 32, BN = 32, BK = 8, TN = 8, THREADS = BM * BN / TN;
    __shared__ float As[BM][BK], Bs[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int row = threadIdx.x / (BN / TN);                   // the strip's row in the block
    const int left = threadIdx.x % (BN / TN) * TN;             // and its first column
    float acc[TN] = {0.0f};
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
        // ### BEGIN SOLUTION #error "1 of 2, about 6 lines: for each k one word of As, TN words of Bs, TN FMAs"
        for (int k = 0; k < BK; ++k) {
            const float a = As[row][k];
#pragma unroll
            for (int c = 0; c < TN; ++c)
                acc[c] += a * Bs[k][left + c];
        }
        // ### END SOLUTION
        __syncthreads();
    }
    // ### BEGIN SOLUTION #error "2 of 2, about 8 lines: the strip goes to C, none beyond an edge; beta = 0 reads no C"
#pragma unroll
    for (int c = 0; c < TN; ++c) {
        const int col = col0 + left + c;
        if (row0 + row < M && col < N) {
            float *to = C + (size_t)(row0 + row) * N + col;
            *to = beta == 0.0f ? alpha * acc[c] : alpha * acc[c] + beta * *to;
        }
    }
    // ### END SOLUTION
}
