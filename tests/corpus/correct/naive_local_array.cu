// entry: gemm
// grid: (-(-N // 32), -(-M // 16))
// block: (32, 2)
// about: Eight rows for each thread in an array whose loops are not unrolled, so in local memory; memset clears it.

#include <string.h>

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int ROWS = 8;
    int col = blockIdx.x * 32 + threadIdx.x;
    int row0 = (blockIdx.y * 2 + threadIdx.y) * ROWS;
    if (col >= N) return;
    int rows = min(ROWS, M - row0);
    float acc[ROWS];
    memset(acc, 0, sizeof(acc));
    for (int k = 0; k < K; ++k) {
        float b = B[k * N + col];
#pragma unroll 1
        for (int r = 0; r < rows; ++r) acc[r] += A[(row0 + r) * K + k] * b;
    }
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
        float *c = &C[(row0 + r) * N + col];
        *c = beta == 0.0f ? alpha * acc[r] : alpha * acc[r] + beta * *c;
    }
}
