// 03b  The best 1D: strips as in kernel 03, while the next tiles are under way.
//
//   C (M x N) = alpha * A (M x K) * B (K x N) + beta * C        row-major, float32
//
//   threads   BM * BN / TM in a block, which computes BM x BN elements of C; at least BLOCKS blocks fit on an SM
//   reads     as kernel 03, but As by four words along k: TM / 4 + 1 instructions for TM multiplications
//
// STAGES tiles of A and of B lie in shared memory. While the threads read one, asynchronous copies fill the others,
// without passing through registers; one barrier for each tile is enough.

#include <cuda_pipeline_primitives.h>

// Start copying WORDS words from global to shared memory, or zeros (PTX ISA, "cp.async").
template <int WORDS>
__device__ __forceinline__ void copy_async(float *to, const float *from, bool exists) {
    const unsigned shared = __cvta_generic_to_shared(to), bytes = exists ? 4 * WORDS : 0;
    if (WORDS == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
}

// The words from[0..3], of which the first `left` exist. `wide`: rows are aligned, and all four exist or none does.
__device__ __forceinline__ void copy_four(float *to, const float *from, int left, bool wide) {
    if (wide) {
        copy_async<4>(to, from, left > 0);
    } else {
#pragma unroll
        for (int n = 0; n < 4; ++n)
            copy_async<1>(to + n, from + n, n < left);
    }
}

template <int BM, int BN, int BK, int TM, int STAGES, int BLOCKS>
__global__ void __launch_bounds__(BM * BN / TM, BLOCKS)
pipelined_1d(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int THREADS = BM * BN / TM;
    static_assert(BM % TM == 0, "strips of TM rows must fill the BM rows of a block");
    static_assert(BK % 4 == 0 && BN % 4 == 0 && STAGES >= 2, "words are copied by fours, and tiles ahead of time");
    static_assert(BM * BK % (4 * THREADS) == 0 && BK * BN % (4 * THREADS) == 0, "every thread copies as many fours");
    static_assert(4 * THREADS % BK == 0 && 4 * THREADS % BN == 0, "all threads together copy whole rows");

    __shared__ __align__(16) float As[STAGES][BM][BK];
    __shared__ __align__(16) float Bs[STAGES][BK][BN];

    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;             // the block's corner of C
    const int strip = threadIdx.x / BN * TM, col = threadIdx.x % BN;      // the thread's rows and column in the block
    // A thread copies the same fours of every tile: ROWS rows of A apart, and DEPTH rows of B.
    constexpr int ROWS = 4 * THREADS / BK, DEPTH = 4 * THREADS / BN;
    const int ar = threadIdx.x / (BK / 4), ak = threadIdx.x % (BK / 4) * 4;
    const int bk = threadIdx.x / (BN / 4), bn = threadIdx.x % (BN / 4) * 4;
    const float *a = A + (size_t)(row0 + ar) * K + ak, *b = B + (size_t)bk * N + col0 + bn;
    const bool wide_A = K % 4 == 0, wide_B = N % 4 == 0;

    auto copy = [&](int stage, int left) {  // of the next tile, `left` values of k exist from its first on
#pragma unroll
        for (int r = 0; r < BM; r += ROWS)
            copy_four(&As[stage][r + ar][ak], a + (ptrdiff_t)r * K, row0 + r + ar < M ? left - ak : 0, wide_A);
#pragma unroll
        for (int k = 0; k < BK; k += DEPTH)
            copy_four(&Bs[stage][k + bk][bn], b + (ptrdiff_t)k * N, k + bk < left ? N - col0 - bn : 0, wide_B);
        a += BK;
        b += (ptrdiff_t)BK * N;
        __pipeline_commit();
    };

#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s)
        copy(s, K - s * BK);

    float acc[TM] = {0.0f};
    int read = 0, write = STAGES - 1;
    for (int k0 = 0; k0 < K; k0 += BK) {
        __pipeline_wait_prior(STAGES - 2);  // this tile has arrived,
        __syncthreads();                    // everybody's part of it, and nobody reads the last one any more
        copy(write, K - k0 - (STAGES - 1) * BK);

#pragma unroll 2  // more would need more registers than there are
        for (int k = 0; k < BK; k += 4) {
            const float b0 = Bs[read][k][col], b1 = Bs[read][k + 1][col];
            const float b2 = Bs[read][k + 2][col], b3 = Bs[read][k + 3][col];
#pragma unroll
            for (int r = 0; r < TM; ++r) {
                const float4 a = *(const float4 *)&As[read][strip + r][k];
                acc[r] += a.x * b0;
                acc[r] += a.y * b1;
                acc[r] += a.z * b2;
                acc[r] += a.w * b3;
            }
        }
        read = (read + 1) % STAGES;
        write = (write + 1) % STAGES;
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
