// entry: issueearly
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (20, 20, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: The copies into a stage begin before all are done with it.

#include <cuda_pipeline.h>
__global__ void issueearly(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[3][16][16], Bs[3][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, nt = (K + 15) / 16;
    auto issue = [&](int t) {
        int s = t % 3;
        if (t < nt) {
            if (row < M && t * 16 + tx < K) __pipeline_memcpy_async(&As[s][ty][tx], &A[row * K + t * 16 + tx], 4); else As[s][ty][tx] = 0;  // BUG: shows
            if (col < N && t * 16 + ty < K) __pipeline_memcpy_async(&Bs[s][ty][tx], &B[(t * 16 + ty) * N + col], 4); else Bs[s][ty][tx] = 0;  // BUG: shows
        }
        __pipeline_commit();
    };
    issue(0);
    issue(1);
    float acc = 0;
    for (int t = 0; t < nt; ++t) {
        issue(t + 2);  // BUG
        __pipeline_wait_prior(2);
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[t % 3][ty][k] * Bs[t % 3][k][tx];  // BUG: shows
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
