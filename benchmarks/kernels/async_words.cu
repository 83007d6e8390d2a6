// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// about: Asynchronous copies of one word for a thread (cp.async through L1), two stages; zeros beyond the edges.

#include <cuda_pipeline.h>

constexpr int BM = 8, BN = 32, BK = 16;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][BM][BK], Bs[2][BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * BM, col = blockIdx.x * BN + tx;
    auto fetch = [&](int stage, int k0) {
        if (tx < BK) {
            const bool in = row0 + ty < M && k0 + tx < K;
            __pipeline_memcpy_async(&As[stage][ty][tx], in ? A + (row0 + ty) * K + k0 + tx : A, 4, in ? 0 : 4);
        }
        for (int r = ty; r < BK; r += BM) {
            const bool in = k0 + r < K && col < N;
            __pipeline_memcpy_async(&Bs[stage][r][tx], in ? B + (k0 + r) * N + col : B, 4, in ? 0 : 4);
        }
        __pipeline_commit();
    };
    fetch(0, 0);
    float acc = 0.0f;
    for (int k0 = 0, stage = 0; k0 < K; k0 += BK, stage ^= 1) {
        fetch(stage ^ 1, k0 + BK);
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) acc += As[stage][ty][k] * Bs[stage][k][tx];
        __syncthreads();
    }
    const int row = row0 + ty;
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
