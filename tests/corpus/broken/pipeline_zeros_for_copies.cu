// entry: zfill
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (20, 20, 20)
// defect: // BUG
// kinds: wrong-values
// about: The number of zeros is taken for that of bytes to copy.

#include <cuda_pipeline.h>
__global__ void zfill(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        bool a = row < M && k0 + tx < K, b = col < N && k0 + ty < K;
        __pipeline_memcpy_async(&As[ty][tx], a ? &A[row * K + k0 + tx] : A, 4, a ? 4 : 0);  // BUG
        __pipeline_memcpy_async(&Bs[ty][tx], b ? &B[(k0 + ty) * N + col] : B, 4, b ? 0 : 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
