__global__ void deal(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // A warp computes 32 x 32 elements of C, with 4 x 8 lanes.
    // A lane has 4 columns next to each other, and 8 rows: a four, and another 16 rows below it.
    constexpr int BM = 64, BN = 64, BK = 8, TM = 8, TN = 4, THREADS = BM * BN / (TM * TN);
    __shared__ __align__(16) float As[BK][BM + 4];  // transposed: As[k in the step][row in the block]
    __shared__ __align__(16) float Bs[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // ### BEGIN SOLUTION #error "1 of 3, 2 lines: const int row, col: the lane's first row and column in the block"
    const int row = warp / 2 * 32 + lane / 2 % 4 * 4;
    const int col = warp % 2 * 32 + (lane % 2 + lane / 8 * 2) * 4;
    // ### END SOLUTION
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int r = row0 + i / BK, k = k0 + i % BK;
            As[i % BK][i / BK] = r < M && k < K ? A[(size_t)r * K + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int k = k0 + i / BN, c = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && c < N ? B[(size_t)k * N + c] : 0.0f;
        }
        __syncthreads();
        // ### BEGIN SOLUTION #error "2 of 3, about 14 lines: for each k, TM words of As, TN of Bs, TM * TN FMAs"
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float x[TM], y[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i)
                x[i] = As[k][row + i / 4 * 16 + i % 4];
#pragma unroll
            for (int j = 0; j < TN; ++j)
                y[j] = Bs[k][col + j];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += x[i] * y[j];
        }
        // ### END SOLUTION
        __syncthreads();
    }
    // ### BEGIN SOLUTION #error "3 of 3, about 10 lines: the sums go to C, none beyond an edge; beta = 0 reads no C"
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + row + i / 4 * 16 + i % 4, c = col0 + col + j;
            if (r < M && c < N) {
                float *to = C + (size_t)r * N + c;
                *to = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *to;
            }
        }
    // ### END SOLUTION
}
