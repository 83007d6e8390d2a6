// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, race, wrong-values
// about: Two groups may be on their way, also the one that is needed.

#include <cuda_pipeline.h>

constexpr int T = 16;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][T][T];
    __shared__ float Bs[2][T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;

    auto fetch = [&](int stage, int k0) {
        const bool a_in = row < M && k0 + tx < K, b_in = k0 + ty < K && col < N;
        __pipeline_memcpy_async(&As[stage][ty][tx], a_in ? A + row * K + k0 + tx : A, sizeof(float), a_in ? 0 : 4);  // BUG: shows
        __pipeline_memcpy_async(&Bs[stage][ty][tx], b_in ? B + (k0 + ty) * N + col : B, sizeof(float), b_in ? 0 : 4);  // BUG: shows
    };

    fetch(0, 0);
    __pipeline_commit();
    float acc = 0.0f;
    for (int k0 = 0, stage = 0; k0 < K; k0 += T, stage ^= 1) {
        if (k0 + T < K) fetch(stage ^ 1, k0 + T);
        __pipeline_commit();
        __pipeline_wait_prior(2);  // BUG
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += As[stage][ty][k] * Bs[stage][k][tx];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
