// 09  Split K: several blocks share a tile of C, and each takes its part of K.
//
//   C (M x N) = alpha * A (M x K) * B (K x N) + beta * C        row-major, float32
//
//   threads   BM * BN / (TM * TN) in a block; at least BLOCKS blocks fit on an SM together
//   blocks    one for each of the first tiles of C, SPLITS for each of the last: gridDim.x tells how many are shared.
//             All are, where C has few tiles and K is long; else those that would fill a last round of SMs only partly
//
// A block that shares a tile leaves its sums in global memory. The one that finishes last adds them up, always in the
// same order: the result does not depend on who that is. Two launches must not run at the same time.

#include <cuda_pipeline_primitives.h>

__device__ float sums[4 << 20];         // of blocks that share a tile: BM * BN each, 16 MB in all
__device__ unsigned finished[1 << 10];  // such blocks that are done, for each tile; 0 before and after a launch

template <int BM, int BN, int BK>
struct Tile {
    float a[BK][BM + 4];  // transposed; 4 words of padding spread the words that a warp stores over all banks
    float b[BK][BN];
};

// Start copying WORDS words from global to shared memory, or zeros (PTX ISA, "cp.async").
template <int WORDS>
__device__ __forceinline__ void copy_async(float *to, const float *from, bool exists) {
    const unsigned shared = __cvta_generic_to_shared(to), bytes = exists ? 4 * WORDS : 0;
    if (WORDS == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
}

// The work of a block. WORDS neighbours in a row of B move together, and of C: 4 where the rows are aligned, else 1.
template <int WORDS, int TM, int TN, int SPLITS, bool DOWN, int BM, int BN, int BK, int STAGES>
__device__ __forceinline__ void multiply(Tile<BM, BN, BK> (&tiles)[STAGES], int M, int N, int K, float alpha,
                                         const float *A, const float *B, float beta, float *C) {
    constexpr int THREADS = BM * BN / (TM * TN), STRIP = 8;
    constexpr int WM = 4 * TM, WN = 8 * TN;                                     // a warp's tile: its lanes are 4 x 8
    constexpr int ROWS = THREADS / 8, FOURS = BN / 4, DEPTH = THREADS / FOURS;  // copied at once: rows of A, and of B
    static_assert(BM % WM == 0 && BN % WN == 0 && TM % 4 == 0 && TN % 4 == 0, "whole warps, and threads take fours");
    static_assert(BK % 8 == 0 && BM % ROWS == 0 && DEPTH > 0 && BK % DEPTH == 0, "every thread copies as many words");
    static_assert(STAGES >= 2, "one tile is read while others arrive");

    const int high = (M + BM - 1) / BM, wide = (N + BN - 1) / BN;  // C in tiles
    const int shared = SPLITS > 1 ? ((int)gridDim.x - high * wide) / (SPLITS - 1) : 0, whole = high * wide - shared;
    const int piece = (int)blockIdx.x - whole;  // negative: the block has a tile of its own
    const int id = piece < 0 ? blockIdx.x : whole + piece / SPLITS;
    const int strip = id / (STRIP * wide) * STRIP, height = min(high - strip, STRIP), place = id - strip * wide;
    const int row0 = (strip + place % height) * BM, col0 = place / height * BN;  // the block's corner of C
    const int part = ((K + BK - 1) / BK + SPLITS - 1) / SPLITS * BK;             // of K, in whole steps
    const int from = piece < 0 ? 0 : min(piece % SPLITS * part, K), length = piece < 0 ? K : min(K - from, part);

    // What a thread copies. Beyond an edge of C the last row or column serves; what becomes of it is not stored.
    const int ak = threadIdx.x % 8, am = threadIdx.x / 8;  // 8 lanes copy a row of A
    const int bk = threadIdx.x / FOURS % DEPTH, bn = threadIdx.x % FOURS * WORDS;
    const float *a[BM / ROWS], *b = B + (size_t)(from + bk) * N + (WORDS == 4 ? min(col0 + bn, N - 4) : col0 + bn);
    for (int i = 0; i < BM / ROWS; ++i)  // loops as short as this the compiler unrolls unasked
        a[i] = A + (size_t)min(row0 + am + i * ROWS, M - 1) * K + from + ak;

    auto copy = [&](Tile<BM, BN, BK> &t, int depth) {  // of the next tile; beyond `depth` values of k, zeros
        for (int k = 0; k < BK; k += 8)
            for (int i = 0; i < BM / ROWS; ++i) copy_async<1>(&t.a[k + ak][am + i * ROWS], a[i] + k, k + ak < depth);
        for (int k = 0; k < BK; k += DEPTH)
            for (int j = 0; j < 4 / WORDS; ++j)
                copy_async<WORDS>(&t.b[k + bk][bn + j * FOURS], b + (size_t)k * N + j * FOURS,
                                  k + bk < depth && (WORDS == 4 || col0 + bn + j * FOURS < N));
        for (int i = 0; i < BM / ROWS; ++i) a[i] += depth;
        b += (ptrdiff_t)depth * N;
    };

    const int warp = threadIdx.x % THREADS / 32, lane = threadIdx.x % 32;  // % THREADS: better registers; H200: 1 %
    const int row = warp / (BN / WN) * WM + lane / 2 % 4 * 4;               // lanes 0 2 4 6 are a column of the warp's
    const int col = warp % (BN / WN) * WN + (lane % 2 + lane / 8 * 2) * 4;  // 4 x 8, 1 3 5 7 the next: see kernel 05
    float acc[TM][TN] = {};
    __align__(16) float x[2][TM], y[2][TN];  // the operands for one value of k, and for the next
    auto fetch = [&](const Tile<BM, BN, BK> &t, int k) {
#pragma unroll
        for (int i = 0; i < TM; i += 4) *(float4 *)&x[k % 2][i] = *(const float4 *)&t.a[k][row + i * 4];
#pragma unroll
        for (int j = 0; j < TN; j += 4) *(float4 *)&y[k % 2][j] = *(const float4 *)&t.b[k][col + j * 8];
    };

    auto multiply_add = [&](int k) {  // to and fro: see kernel 07
#pragma unroll
        for (int e = 0; e < TM * TN; ++e) {
            const int side = DOWN ? TM : TN, line = e / side, at = line % 2 ? side - 1 - e % side : e % side;
            const int i = DOWN ? at : line, j = DOWN ? line : at;
            acc[i][j] += x[k % 2][i] * y[k % 2][j];
        }
    };

    // The first tile is the short one if BK does not divide the length: no later one needs a test.
    const int count = max((length + BK - 1) / BK, 1), first = length - (count - 1) * BK;
    copy(tiles[0], first);
    __pipeline_commit();
    for (int s = 1; s < STAGES - 1; ++s) {
        if (s < count) copy(tiles[s], BK);
        __pipeline_commit();
    }
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    fetch(tiles[0], 0);

    unsigned read = 0, write = STAGES - 1;
    for (int n = 0;; ++n) {
        fetch(tiles[read], 1);  // ahead of the copies; the loop fetches the others
        if (n + STAGES - 1 < count) copy(tiles[write], BK);
        __pipeline_commit();
        write = (write + 1) % STAGES;
#pragma unroll
        for (int k = 0; k < BK - 1; ++k) {
            if (k > 0) fetch(tiles[read], k + 1);
            multiply_add(k);
        }
        if (n + 1 == count) break;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // the next tile has arrived, and everybody has fetched all of this one
        read = (read + 1) % STAGES;
        fetch(tiles[read], 0);
        multiply_add(BK - 1);
    }
    multiply_add(BK - 1);

    if (piece >= 0) {
        float *mine = sums + (size_t)piece * BM * BN + threadIdx.x;
        for (int e = 0; e < TM * TN; ++e) mine[e * THREADS] = acc[e / TN][e % TN];
        __threadfence();  // whoever sees this block counted sees its sums
        __syncthreads();
        __shared__ bool last;
        if (threadIdx.x == 0) last = atomicAdd(&finished[piece / SPLITS], 1) == SPLITS - 1;
        __syncthreads();
        if (!last) return;
        __threadfence();
        if (threadIdx.x == 0) finished[piece / SPLITS] = 0;
        const float *all = mine - (size_t)(piece % SPLITS) * BM * BN;
#pragma unroll
        for (int e = 0; e < TM * TN; ++e) {
            acc[e / TN][e % TN] = 0.0f;
            for (int s = 0; s < SPLITS; ++s) acc[e / TN][e % TN] += __ldcg(&all[(s * TM * TN + e) * THREADS]);
        }
    }

#pragma unroll
    for (int e = 0; e < TM * TN; e += 4) {  // four neighbours in a row of C
        const int i = e / TN, j = e % TN, r = row0 + row + i / 4 * 16 + i % 4, c = col0 + col + j * 8;
        float *to = C + (size_t)r * N + c, *sum = &acc[i][j];
        if (WORDS == 4 && beta == 0.0f) {
            if (r < M && c < N) *(float4 *)to = {alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]};
        } else {
            for (int n = 0; n < 4; ++n)
                if (r < M && c + n < N) to[n] = beta == 0.0f ? alpha * sum[n] : alpha * sum[n] + beta * to[n];
        }
    }
}

template <int BM, int BN, int BK, int TM, int TN, int STAGES, int BLOCKS, bool DOWN, int SPLITS>
__global__ void __launch_bounds__(BM * BN / (TM * TN), BLOCKS)
split_k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) Tile<BM, BN, BK> tiles[STAGES];
    if (N % 4 == 0) multiply<4, TM, TN, SPLITS, DOWN>(tiles, M, N, K, alpha, A, B, beta, C);
    else multiply<1, TM, TN, SPLITS, DOWN>(tiles, M, N, K, alpha, A, B, beta, C);
}
