// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (35, 37, 19), (32, 36, 32)
// about: Not a bug: nothing is filled with zeros, but no thread reads beyond the last step, nor threads outside at all.

#include <algorithm>

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16];
    __shared__ float Bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        if (row < M && k0 + tx < K) As[ty][tx] = A[row * K + k0 + tx];
        if (k0 + ty < K && col < N) Bs[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        if (row < M && col < N) {
            const int steps = std::min(16, K - k0);
            for (int k = 0; k < steps; ++k) acc += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
