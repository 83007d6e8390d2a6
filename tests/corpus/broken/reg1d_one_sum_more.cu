// entry: register_tiling_1d<32, 16, 8, 8, true>
// grid: (-(-N // 16), -(-M // 32))
// block: 64
// defect: // BUG
// kinds: out-of-bounds, uninitialized, wrong-values
// about: <= for <: a ninth sum.

template <int BM, int BN, int BK, int TM, bool STRIDED>
__global__ void __launch_bounds__(BM * BN / TM)  // the size of a block, from which the compiler budgets registers
register_tiling_1d(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int THREADS = BM * BN / TM;
    static_assert(BM % TM == 0, "strips of TM rows must fill the BM rows of a block");
    static_assert(THREADS <= 1024, "one thread computes TM elements, and a block has at most 1024 threads");
    static_assert(THREADS >= BK, "the threads load the tile of A by whole rows of BK words");

    __shared__ float As[BM][BK];
    __shared__ float Bs[BK][BN];

    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;  // the block's corner of C
    const int strip = threadIdx.x / BN * TM;                   // the thread's rows: strip .. strip + TM - 1
    const int col = threadIdx.x % BN;                          // and its column; a warp walks along a row

    float acc[TM] = {0.0f};  // indexed by constants once the loops are unrolled, so it lives in registers

    for (int k0 = 0; k0 < K; k0 += BK) {
        if constexpr (STRIDED) {
            // The usual loop over a thread's words. It stays a loop, with index arithmetic and branches in every step.
            for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
                const int r = i / BK, c = i % BK;
                As[r][c] = (row0 + r < M && k0 + c < K) ? A[(size_t)(row0 + r) * K + (k0 + c)] : 0.0f;
            }
            for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
                const int r = i / BN, c = i % BN;
                Bs[r][c] = (k0 + r < K && col0 + c < N) ? B[(size_t)(k0 + r) * N + (col0 + c)] : 0.0f;
            }
        } else {
            // The threads fetch A_ROWS rows of A's tile at once, and repeat until they have BM; likewise for B. The number
            // of repeats is known at compile time, so all loads are issued before the first word is needed: one wait.
            constexpr int A_ROWS = THREADS / BK, A_WORDS = (BM + A_ROWS - 1) / A_ROWS;
            constexpr int B_ROWS = THREADS / BN, B_WORDS = (BK + B_ROWS - 1) / B_ROWS;
            constexpr bool A_FITS = THREADS % BK == 0 && BM % A_ROWS == 0;  // no thread is left over in any repeat
            constexpr bool B_FITS = BK % B_ROWS == 0;
            const int ar = threadIdx.x / BK, ac = threadIdx.x % BK;
            const int br = threadIdx.x / BN, bc = threadIdx.x % BN;
            float a[A_WORDS], b[B_WORDS];
#pragma unroll
            for (int w = 0; w < A_WORDS; ++w) {
                const int r = ar + w * A_ROWS;
                if (A_FITS || (ar < A_ROWS && r < BM))
                    a[w] = (row0 + r < M && k0 + ac < K) ? A[(size_t)(row0 + r) * K + (k0 + ac)] : 0.0f;
            }
#pragma unroll
            for (int w = 0; w < B_WORDS; ++w) {
                const int r = br + w * B_ROWS;
                if (B_FITS || r < BK)
                    b[w] = (k0 + r < K && col0 + bc < N) ? B[(size_t)(k0 + r) * N + (col0 + bc)] : 0.0f;
            }
#pragma unroll
            for (int w = 0; w < A_WORDS; ++w) {
                const int r = ar + w * A_ROWS;
                if (A_FITS || (ar < A_ROWS && r < BM)) As[r][ac] = a[w];
            }
#pragma unroll
            for (int w = 0; w < B_WORDS; ++w) {
                const int r = br + w * B_ROWS;
                if (B_FITS || r < BK) Bs[r][bc] = b[w];
            }
        }
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k][col];
#pragma unroll
            for (int r = 0; r <= TM; ++r)  // BUG
                acc[r] += As[strip + r][k] * b;  // BUG: shows
        }
        __syncthreads();
    }

#pragma unroll
    for (int r = 0; r < TM; ++r) {
        const int row = row0 + strip + r;
        if (row < M && col0 + col < N) {
            float *c = C + (size_t)row * N + col0 + col;
            *c = beta == 0.0f ? alpha * acc[r] : alpha * acc[r] + beta * *c;
        }
    }
}
