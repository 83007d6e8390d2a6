// 04  2D register tiling: a thread computes a tile of TM x TN elements of C.
//
//   C (M x N) = alpha * A (M x K) * B (K x N) + beta * C        row-major, float32
//
//   threads   BM * BN / (TM * TN) in a block, which computes BM x BN elements of C
//   reads     K / BN + K / BM words per element from global memory, four at a time where rows are aligned
//             TM + TN words for TM * TN multiplications from shared memory: an outer product in registers
//
// The tile of A is stored transposed: the TM words that a thread needs for one k then lie side by side, as do the TN
// words of B. The compiler reads them four at a time.

// The words p[0..3], of which the first `left` exist; the others count as 0. `wide` says that rows are whole fours.
__device__ __forceinline__ float4 four_words(const float *p, int left, bool wide) {
    if (wide) return left > 0 ? *(const float4 *)p : float4{0.0f, 0.0f, 0.0f, 0.0f};
    return {left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f, left > 2 ? p[2] : 0.0f, left > 3 ? p[3] : 0.0f};
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM * BN / (TM * TN))  // threads in a block: the compiler budgets registers for them
register_tiling_2d(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int THREADS = BM * BN / (TM * TN);
    static_assert(BM % TM == 0 && BN % TN == 0, "the threads' tiles must fill the block's");
    static_assert(THREADS <= 1024, "one thread computes TM * TN elements, and a block has at most 1024 threads");
    static_assert(BK % 4 == 0 && BN % 4 == 0, "the threads load both tiles by fours");
    static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "each thread loads as many fours");

    __shared__ __align__(16) float As[BK][BM];  // transposed
    __shared__ __align__(16) float Bs[BK][BN];

    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int row = threadIdx.x / (BN / TN) * TM;              // the thread's corner within the block
    const int col = threadIdx.x % (BN / TN) * TN;

    constexpr int A_FOURS = BM * BK / 4 / THREADS, B_FOURS = BK * BN / 4 / THREADS;
    const bool wide_A = K % 4 == 0, wide_B = N % 4 == 0;  // then every row begins on a multiple of 16 bytes

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        float4 a[A_FOURS], b[B_FOURS];  // all loads are issued before the first word is needed
#pragma unroll
        for (int w = 0; w < A_FOURS; ++w) {
            const int four = threadIdx.x + w * THREADS, r = four / (BK / 4), k = four % (BK / 4) * 4;
            a[w] = four_words(&A[(size_t)(row0 + r) * K + k0 + k], row0 + r < M ? K - k0 - k : 0, wide_A);
        }
#pragma unroll
        for (int w = 0; w < B_FOURS; ++w) {
            const int four = threadIdx.x + w * THREADS, k = four / (BN / 4), c = four % (BN / 4) * 4;
            b[w] = four_words(&B[(size_t)(k0 + k) * N + col0 + c], k0 + k < K ? N - col0 - c : 0, wide_B);
        }
#pragma unroll
        for (int w = 0; w < A_FOURS; ++w) {
            const int four = threadIdx.x + w * THREADS, r = four / (BK / 4), k = four % (BK / 4) * 4;
            As[k][r] = a[w].x, As[k + 1][r] = a[w].y, As[k + 2][r] = a[w].z, As[k + 3][r] = a[w].w;
        }
#pragma unroll
        for (int w = 0; w < B_FOURS; ++w) {
            const int four = threadIdx.x + w * THREADS, k = four / (BN / 4), c = four % (BN / 4) * 4;
            *(float4 *)&Bs[k][c] = b[w];
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float x[TM], y[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i)
                x[i] = As[k][row + i];
#pragma unroll
            for (int j = 0; j < TN; ++j)
                y[j] = Bs[k][col + j];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + row + i, c = col0 + col + j;
            if (r < M && c < N) {
                float *to = C + (size_t)r * N + c;
                *to = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *to;
            }
        }
    }
}
