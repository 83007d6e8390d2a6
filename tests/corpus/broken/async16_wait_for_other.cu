// entry: matmul_async
// grid: (-(-N // 32), -(-M // 32))
// block: 64
// shapes: (32, 32, 16), (36, 40, 44), (4, 4, 4)
// defect: // BUG
// kinds: race, wrong-values, uninitialized
// about: It always waits for all groups but the newest, also at the last tile.

#include <cuda_pipeline_primitives.h>

constexpr int BM = 32, BN = 32, BK = 16;
struct __align__(16) Stage {
    float a[BM][BK];
    float b[BK][BN];
};

__device__ void load(Stage &stage, int M, int N, int K, const float *A, const float *B, int m0, int n0, int k0) {
    const int t = threadIdx.x;
    for (int i = t; i < BM * BK / 4; i += 64) {
        const int r = i / (BK / 4), c = i % (BK / 4) * 4;
        const bool in = m0 + r < M && k0 + c < K;
        __pipeline_memcpy_async(&stage.a[r][c], in ? &A[(m0 + r) * K + k0 + c] : A, 16, in ? 0 : 16);
    }
    for (int i = t; i < BK * BN / 4; i += 64) {
        const int r = i / (BN / 4), c = i % (BN / 4) * 4;
        const bool in = k0 + r < K && n0 + c < N;
        __pipeline_memcpy_async(&stage.b[r][c], in ? &B[(k0 + r) * N + n0 + c] : B, 16, in ? 0 : 16);
    }
    __pipeline_commit();
}

__global__ void matmul_async(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ Stage stages[2];
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, tiles = (K + BK - 1) / BK;
    const int r0 = threadIdx.x / 8 * 4, c0 = threadIdx.x % 8 * 4;
    float acc[4][4] = {};
    load(stages[0], M, N, K, A, B, m0, n0, 0);
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) {
            load(stages[(tile + 1) % 2], M, N, K, A, B, m0, n0, (tile + 1) * BK);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(1);  // BUG
        }
        __syncthreads();
        const Stage &s = stages[tile % 2];
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) acc[i][j] += s.a[r0 + i][k] * s.b[k][c0 + j];  // BUG: shows
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (m0 + r0 + i < M && n0 + c0 + j < N) {
                float *c = &C[(m0 + r0 + i) * N + n0 + c0 + j];
                *c = beta != 0.0f ? alpha * acc[i][j] + beta * *c : alpha * acc[i][j];
            }
}
