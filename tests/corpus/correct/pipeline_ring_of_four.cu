// entry: ring
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (20, 20, 90)
// about: A ring of four stages, filled with zeros by the copies themselves.

#include <cuda_pipeline.h>
__global__ void ring(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    extern __shared__ float none[];
    __shared__ float S[4][2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, nt = (K + 15) / 16;
    auto issue = [&](int t) {
        if (t < nt) {
            auto &s = S[t & 3];
            bool a = row < M && t * 16 + tx < K, b = col < N && t * 16 + ty < K;
            __pipeline_memcpy_async(&s[0][ty][tx], a ? &A[row * K + t * 16 + tx] : A, 4, a ? 0 : 4);
            __pipeline_memcpy_async(&s[1][ty][tx], b ? &B[(t * 16 + ty) * N + col] : B, 4, b ? 0 : 4);
        }
        __pipeline_commit();
    };
    issue(0); issue(1); issue(2);
    float acc = 0;
    for (int t = 0; t < nt; ++t) {
        __pipeline_wait_prior(2);
        __syncthreads();
        issue(t + 3);
        for (int k = 0; k < 16; ++k) acc += S[t & 3][0][ty][k] * S[t & 3][1][k][tx];
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
