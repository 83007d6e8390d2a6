// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: default
// defect: // BUG
// kinds: race, wrong-values
// about: The column within C is kept in a byte.

#include <cstdint>

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    const uint8_t tx = threadIdx.x, ty = threadIdx.y;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * 16 + ty;
    const uint8_t col = blockIdx.x * 16 + tx;  // BUG
    float acc = 0.0f;
    for (int64_t k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (short k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];  // BUG: shows
}
