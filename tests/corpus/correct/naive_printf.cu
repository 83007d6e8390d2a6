// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: One thread prints what it was called with.

#include <cstdio>

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row == 0 && col == 0)
        printf("%d x %d x %d, alpha %g, beta %g, block (%u, %u), first words %f %f\n", M, N, K, alpha, beta, blockDim.x,
               blockDim.y, A[0], B[0]);
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
