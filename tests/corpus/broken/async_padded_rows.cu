// entry: gemm
// grid: (N // 32, M // 32)
// block: 64
// shapes: (32, 32, 8), (64, 32, 24), (32, 96, 64)
// defect: // BUG
// kinds: misaligned, wrong-values
// about: Rows of nine words are not aligned for copies of 16 bytes.

constexpr int BM = 32, BN = 32, BK = 8, STAGES = 3, THREADS = 64;

__device__ __forceinline__ void copy16(void *to, const void *from) {
    const unsigned dst = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(from) : "memory");  // BUG: shows
}

__global__ void __launch_bounds__(THREADS)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) float As[STAGES][BM][BK + 1];  // BUG
    __shared__ __align__(16) float Bs[STAGES][BK][BN];
    const int t = threadIdx.x, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int tiles = K / BK;

    auto fetch = [&](int tile) {
        const int stage = tile % STAGES, k0 = tile * BK;
        copy16(&As[stage][t / 2][t % 2 * 4], &A[(row0 + t / 2) * K + k0 + t % 2 * 4]);  // BUG: shows
        copy16(&Bs[stage][t / 8][t % 8 * 4], &B[(k0 + t / 8) * N + col0 + t % 8 * 4]);
    };

    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < tiles) fetch(s);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    float acc[4][4] = {};
    const int r0 = t / 8 * 4, c0 = t % 8 * 4;
    for (int tile = 0; tile < tiles; ++tile) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (tile + STAGES - 1 < tiles) fetch(tile + STAGES - 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        const int stage = tile % STAGES;
        for (int k = 0; k < BK; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += As[stage][r0 + i][k] * Bs[stage][k][c0 + j];
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float *c = &C[(row0 + r0 + i) * N + col0 + c0 + j];
            *c = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *c;
        }
}
