// 05  Warp tiling: which thread of a warp takes which rows and columns decides how often the warp asks shared memory.
//
//   C (M x N) = alpha * A (M x K) * B (K x N) + beta * C        row-major, float32
//
//   threads   BM * BN / (TM * TN) in a block; a warp's 32 lanes form 4 rows of 8 and compute 4 TM x 8 TN elements
//   reads     the words of kernel 04, in fewer wavefronts
//
// Three changes, none of which moves a word more or less:
//   - A thread's rows and columns come in fours, and those of its neighbours lie between them: lanes then read
//     neighbouring float4s of Bs, where in kernel 04 they are TN words apart and meet in the same banks.
//   - Of a warp's lanes 0 and 1 share a row, 0 and 2 a column. Where lanes n and n^1, or n and n^2, agree for the whole
//     warp, hardware serves both at once, and a LDS.128 takes two wavefronts instead of four.
//   - Rows of As are 4 words longer: what a warp stores into a column of A's tile then goes to different banks.

// The words p[0..3], of which the first `left` exist; the others count as 0. `wide` says that rows are whole fours.
__device__ __forceinline__ float4 four_words(const float *p, int left, bool wide) {
    if (wide) return left > 0 ? *(const float4 *)p : float4{0.0f, 0.0f, 0.0f, 0.0f};
    return {left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f, left > 2 ? p[2] : 0.0f, left > 3 ? p[3] : 0.0f};
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM * BN / (TM * TN))
warp_tiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int THREADS = BM * BN / (TM * TN);
    constexpr int WM = 4 * TM, WN = 8 * TN;  // a warp's tile
    static_assert(BM % WM == 0 && BN % WN == 0, "the warps' tiles must fill the block's");
    static_assert(TM % 4 == 0 && TN % 4 == 0, "a thread's rows and columns come in fours");
    static_assert(THREADS <= 1024, "one thread computes TM * TN elements, and a block has at most 1024 threads");
    static_assert(BK % 4 == 0 && BN % 4 == 0, "the threads load both tiles by fours");
    static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "each thread loads as many fours");

    __shared__ __align__(16) float As[BK][BM + 4];  // transposed and padded
    __shared__ __align__(16) float Bs[BK][BN];

    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / (BN / WN) * WM + lane / 2 % 4 * 4;               // lanes 0 2 4 6 are a column of the warp's
    const int col = warp % (BN / WN) * WN + (lane % 2 + lane / 8 * 2) * 4;  // 4 x 8, and 1 3 5 7 the next

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
                x[i] = As[k][row + i / 4 * 16 + i % 4];  // 4 rows of lanes, 4 words each, lie between its fours
#pragma unroll
            for (int j = 0; j < TN; ++j)
                y[j] = Bs[k][col + j / 4 * 32 + j % 4];
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
            const int r = row0 + row + i / 4 * 16 + i % 4, c = col0 + col + j / 4 * 32 + j % 4;
            if (r < M && c < N) {
                float *to = C + (size_t)r * N + c;
                *to = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *to;
            }
        }
    }
}
