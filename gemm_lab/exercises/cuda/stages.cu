#include <cuda_pipeline_primitives.h>

__global__ void stages(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // STAGES places for a tile of A and one of B: while the block multiplies those of one step, copies fill the others.
    constexpr int T = 16, STAGES = 3;
    __shared__ float As[STAGES][T][T], Bs[STAGES][T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    auto copy = [&](int place, int step) {  // start to copy the words of a step, or zeros beyond an edge: one group
        const int ka = step * T + tx, kb = step * T + ty;
        const bool a = row < M && ka < K;
        const bool b = kb < K && col < N;
        __pipeline_memcpy_async(&As[place][ty][tx], a ? &A[(size_t)row * K + ka] : A, 4, a ? 0 : 4);
        __pipeline_memcpy_async(&Bs[place][ty][tx], b ? &B[(size_t)kb * N + col] : B, 4, b ? 0 : 4);
        __pipeline_commit();
    };
    float acc = 0.0f;
    for (int n = 0; n < STAGES - 1; ++n)
        copy(n, n);
    for (int n = 0; n * T < K; ++n) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        copy((n + STAGES - 1) % STAGES, n + STAGES - 1);
        for (int k = 0; k < T; ++k)
            acc += As[n % STAGES][ty][k] * Bs[n % STAGES][k][tx];
    }
    if (row < M && col < N) {
        float *c = C + (size_t)row * N + col;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}
