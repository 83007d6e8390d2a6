// entry: k
// grid: (-(-N // 8), -(-M // 8))
// block: 128
// about: One copy instruction writes the tile of A in some threads and that of B in others.

#include <cuda_pipeline_primitives.h>
// the first half of the block copies A's tile, the second half B's
__global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ float As[2][8][8], Bs[2][8][8];
    const int t = threadIdx.x, h = t >> 6, i = (t >> 3) & 7, j = t & 7;
    const int r0 = blockIdx.y * 8, c0 = blockIdx.x * 8;
    auto fetch = [&](int k0, int st) {
        float *dst = h ? &Bs[st][i][j] : &As[st][i][j];
        const float *src = h ? B + (k0 + i) * N + c0 + j : A + (r0 + i) * K + k0 + j;
        const bool ok = h ? k0 + i < K && c0 + j < N : r0 + i < M && k0 + j < K;
        __pipeline_memcpy_async(dst, ok ? src : A, 4, ok ? 0 : 4);
        __pipeline_commit();
    };
    fetch(0, 0);
    float s = 0.f;
    int st = 0;
    for (int k0 = 0; k0 < K; k0 += 8, st ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (k0 + 8 < K) fetch(k0 + 8, st ^ 1);
        if (!h) for (int q = 0; q < 8; ++q) s += As[st][i][q] * Bs[st][q][j];
    }
    if (!h && r0 + i < M && c0 + j < N) {
        float *p = C + (r0 + i) * N + c0 + j;
        *p = beta == 0.f ? alpha * s : alpha * s + beta * *p;
    }
}
