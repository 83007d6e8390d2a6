// 08  Sliced K: where C is small, several teams of a block compute the same tile of C, each for its share of K.
//
//   C (M x N) = alpha * A (M x K) * B (K x N) + beta * C        row-major, float32
//
//   threads   SLICES teams of BM * BN / (TM * TN) in a block. A team takes BK / SLICES of each tile's BK values of k,
//             and at the end the teams add up through shared memory
//   reads     as kernel 07. There are more warps for each SM, which hide each other's waiting
//   DOWN      a thread goes to and fro along its columns (ORDER 2 of kernel 07), else along its rows (ORDER 1)

#include <cuda_pipeline_primitives.h>

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
template <int WORDS, int TM, int TN, int SLICES, bool DOWN, int BM, int BN, int BK, int STAGES>
__device__ __forceinline__ void multiply(Tile<BM, BN, BK> (&tiles)[STAGES], int M, int N, int K, float alpha,
                                         const float *A, const float *B, float beta, float *C) {
    constexpr int TEAM = BM * BN / (TM * TN), THREADS = TEAM * SLICES, SHARE = BK / SLICES, STRIP = 8;
    constexpr int WM = 4 * TM, WN = 8 * TN;                                     // a warp's tile: its lanes are 4 x 8
    constexpr int ROWS = THREADS / 8, FOURS = BN / 4, DEPTH = THREADS / FOURS;  // copied at once: rows of A, and of B
    static_assert(BM % WM == 0 && BN % WN == 0 && TM % 4 == 0 && TN % 4 == 0, "whole warps, and threads take fours");
    static_assert(BK % 8 == 0 && BM % ROWS == 0 && DEPTH > 0 && BK % DEPTH == 0, "every thread copies as many words");
    static_assert(STAGES >= 2 && BK % (2 * SLICES) == 0, "tiles arrive ahead, and teams take values of k by twos");

    const int id = blockIdx.y * gridDim.x + blockIdx.x, strip = id / (STRIP * gridDim.x) * STRIP;
    const int height = min((int)gridDim.y - strip, STRIP), place = id - strip * gridDim.x;
    const int row0 = (strip + place % height) * BM, col0 = place / height * BN;  // the block's corner of C

    // What a thread copies. Beyond an edge of C the last row or column serves; what becomes of it is not stored.
    const int ak = threadIdx.x % 8, am = threadIdx.x / 8;  // 8 lanes copy a row of A
    const int bk = threadIdx.x / FOURS % DEPTH, bn = threadIdx.x % FOURS * WORDS;
    const float *a[BM / ROWS], *b = B + (size_t)bk * N + (WORDS == 4 ? min(col0 + bn, N - 4) : col0 + bn);
    for (int i = 0; i < BM / ROWS; ++i)  // loops as short as this the compiler unrolls unasked
        a[i] = A + (size_t)min(row0 + am + i * ROWS, M - 1) * K + ak;

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

    const int team = SLICES > 1 ? threadIdx.x / TEAM : 0, warp = threadIdx.x % TEAM / 32, lane = threadIdx.x % 32;
    const int row = warp / (BN / WN) * WM + lane / 2 % 4 * 4;               // lanes 0 2 4 6 are a column of the warp's
    const int col = warp % (BN / WN) * WN + (lane % 2 + lane / 8 * 2) * 4;  // 4 x 8, 1 3 5 7 the next: see kernel 05
    float acc[TM][TN] = {};
    __align__(16) float x[2][TM], y[2][TN];  // the operands for one value of k, and for the next
    auto fetch = [&](const Tile<BM, BN, BK> &t, int k) {
#pragma unroll
        for (int i = 0; i < TM; i += 4) *(float4 *)&x[k % 2][i] = *(const float4 *)&t.a[team * SHARE + k][row + i * 4];
#pragma unroll
        for (int j = 0; j < TN; j += 4) *(float4 *)&y[k % 2][j] = *(const float4 *)&t.b[team * SHARE + k][col + j * 8];
    };

    auto multiply_add = [&](int k) {  // to and fro: see kernel 07
#pragma unroll
        for (int e = 0; e < TM * TN; ++e) {
            const int side = DOWN ? TM : TN, line = e / side, at = line % 2 ? side - 1 - e % side : e % side;
            const int i = DOWN ? at : line, j = DOWN ? line : at;
            acc[i][j] += x[k % 2][i] * y[k % 2][j];
        }
    };

    // The first tile is the short one if BK does not divide K: no later one needs a test.
    const int count = (K + BK - 1) / BK, first = K - (count - 1) * BK;
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
        for (int k = 0; k < SHARE - 1; ++k) {
            if (k > 0) fetch(tiles[read], k + 1);
            multiply_add(k);
        }
        if (n + 1 == count) break;
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // the next tile has arrived, and everybody has fetched all of this one
        read = (read + 1) % STAGES;
        fetch(tiles[read], 0);
        multiply_add(SHARE - 1);
    }
    multiply_add(SHARE - 1);

    // Team after team hands its sums over to the first.
    float *hands = (float *)tiles + threadIdx.x % TEAM;
    constexpr int ROOM = sizeof(tiles) / 4 / TEAM;  // sums of a thread that fit in at once
#pragma unroll
    for (int giver = 1; giver < SLICES; ++giver)
#pragma unroll
        for (int e0 = 0; e0 < TM * TN; e0 += ROOM) {
            __syncthreads();
            for (int e = e0; e < e0 + ROOM && e < TM * TN; ++e)
                if (team == giver) hands[(e - e0) * TEAM] = acc[e / TN][e % TN];
            __syncthreads();
            for (int e = e0; e < e0 + ROOM && e < TM * TN; ++e)
                if (team == 0) acc[e / TN][e % TN] += hands[(e - e0) * TEAM];
        }
    if (team > 0) return;

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

template <int BM, int BN, int BK, int TM, int TN, int STAGES, int SLICES, int BLOCKS, bool DOWN>
__global__ void __launch_bounds__(BM * BN / (TM * TN) * SLICES, BLOCKS)
sliced_k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) Tile<BM, BN, BK> tiles[STAGES];
    if (N % 4 == 0) multiply<4, TM, TN, SLICES, DOWN>(tiles, M, N, K, alpha, A, B, beta, C);
    else multiply<1, TM, TN, SLICES, DOWN>(tiles, M, N, K, alpha, A, B, beta, C);
}
