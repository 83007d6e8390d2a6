__global__ void outer(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // A thread computes TM x 8 elements of C: rows top, top + 1, ... of its block, and columns left to left + 3
    // and left + BN / 2 to left + BN / 2 + 3.
    constexpr int BM = 64, BN = 64, BK = 4, TM = 4, TN = 8, THREADS = BM * BN / (TM * TN);
    // ### BEGIN SOLUTION #error "1 of 4, 1 line: constexpr int WIDTH, the floats in a row of As, no more than needed"
    constexpr int WIDTH = BM + 8;
    // ### END SOLUTION
    __shared__ __align__(16) float As[BK][WIDTH];  // transposed: As[k in the step][row in the block]
    __shared__ __align__(16) float Bs[BK][BN];
    static_assert(WIDTH <= BM + 8, "a row of As may have at most 8 floats that are not used");
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int top = threadIdx.x / (BN / TN) * TM;              // the thread's first row in the block
    const int left = threadIdx.x % (BN / TN) * 4;              // and its first column
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int r = row0 + i / BK, k = k0 + i % BK;
            const float a = r < M && k < K ? A[(size_t)r * K + k] : 0.0f;
            // ### BEGIN SOLUTION #error "2 of 4, 1 line: a goes into As, transposed"
            As[i % BK][i / BK] = a;
            // ### END SOLUTION
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int k = k0 + i / BN, c = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && c < N ? B[(size_t)k * N + c] : 0.0f;
        }
        __syncthreads();
        // ### BEGIN SOLUTION #error "3 of 4, about 14 lines: for each k, TM words of As, TN of Bs, TM * TN FMAs"
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float x[TM], y[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i)
                x[i] = As[k][top + i];
#pragma unroll
            for (int j = 0; j < TN; ++j)
                y[j] = Bs[k][left + j / 4 * (BN / 2) + j % 4];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += x[i] * y[j];
        }
        // ### END SOLUTION
        __syncthreads();
    }
    // ### BEGIN SOLUTION #error "4 of 4, about 10 lines: the sums go to C, none beyond an edge; beta = 0 reads no C"
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + top + i, c = col0 + left + j / 4 * (BN / 2) + j % 4;
            if (r < M && c < N) {
                float *to = C + (size_t)r * N + c;
                *to = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *to;
            }
        }
    // ### END SOLUTION
}
