// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: 128
// about: Asynchronous copies of 16 bytes that bypass L1 where rows are aligned, of 4 bytes elsewhere; 2 x 4 elements.

#include <cuda_pipeline.h>

__device__ void copy(float *to, const float *X, int rows, int columns, int r, int c) {
    const float *from = X + r * columns + c;
    if (r < rows && c + 3 < columns && columns % 4 == 0) {
        __pipeline_memcpy_async(to, from, 16);
        return;
    }
    for (int e = 0; e < 4; ++e)
        if (r < rows && c + e < columns)
            __pipeline_memcpy_async(to + e, from + e, 4);
        else
            to[e] = 0.0f;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) float As[32][16], Bs[16][32];
    const int t = threadIdx.x, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32, ty = t / 8 * 2, tx = t % 8 * 4;
    float acc[2][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        copy(&As[t / 4][t % 4 * 4], A, M, K, row0 + t / 4, k0 + t % 4 * 4);
        copy(&Bs[t / 8][t % 8 * 4], B, K, N, k0 + t / 8, col0 + t % 8 * 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            const float4 b = *reinterpret_cast<const float4 *>(&Bs[k][tx]);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const float a = As[ty + i][k];
                acc[i][0] += a * b.x;
                acc[i][1] += a * b.y;
                acc[i][2] += a * b.z;
                acc[i][3] += a * b.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + ty + i, col = col0 + tx + j;
            const float sum = alpha * (i ? acc[1][j] : acc[0][j]);
            if (row < M && col < N) C[row * N + col] = beta == 0.0f ? sum : sum + beta * C[row * N + col];
        }
}
