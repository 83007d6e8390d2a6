// entry: padcp
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (20, 24, 32)
// defect: // BUG
// kinds: misaligned
// about: Copies of 16 bytes into rows of 17 words.

#include <cuda_pipeline.h>
__global__ void padcp(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) float As[16][17];  // BUG
    __shared__ __align__(16) float Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        if (t < 64) {
            int r = t / 4, c = t % 4 * 4;
            if (blockIdx.y * 16 + r < M && k0 + c < K)
                __pipeline_memcpy_async(&As[r][c], &A[(blockIdx.y * 16 + r) * K + k0 + c], 16);  // BUG: shows
            else for (int i = 0; i < 4; ++i) As[r][c + i] = 0;
        }
        __pipeline_commit();
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0;
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
