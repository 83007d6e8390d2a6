// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (8, 8)
// about: Four columns for each thread; memcpy moves four words at a time between shared memory and registers.

#include <cstring>

struct alignas(16) Four {
    float x[4];
};

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[8][8];
    __shared__ Four Bs[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx * 4;
    Four acc;
    memset(&acc, 0, sizeof acc);
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Four b;
        for (int j = 0; j < 4; ++j) b.x[j] = k0 + ty < K && col + j < N ? B[(k0 + ty) * N + col + j] : 0.0f;
        memcpy(&Bs[ty][tx], &b, sizeof b);
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            memcpy(&b, &Bs[k][tx], sizeof(Four));
            for (int j = 0; j < 4; ++j) acc.x[j] += As[ty][k] * b.x[j];
        }
        __syncthreads();
    }
    if (row < M)
        for (int j = 0; j < 4 && col + j < N; ++j)
            C[row * N + col + j] = beta == 0.0f ? alpha * acc.x[j] : alpha * acc.x[j] + beta * C[row * N + col + j];
}
