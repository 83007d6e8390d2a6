// entry: gemm
// grid: (-(-N // 64), -(-M // 16))
// block: (16, 16)
// about: A thread computes four columns, sixteen apart, of one row; named registers instead of an array.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][64];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 64 + tx;
    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
#pragma unroll
        for (int j = 0; j < 64; j += 16)
            Bs[ty][tx + j] = k0 + ty < K && col + j < N ? B[(k0 + ty) * N + col + j] : 0.0f;
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 16; ++k) {
            const float a = As[ty][k];
            c0 += a * Bs[k][tx];
            c1 += a * Bs[k][tx + 16];
            c2 += a * Bs[k][tx + 32];
            c3 += a * Bs[k][tx + 48];
        }
        __syncthreads();
    }
    if (row >= M) return;
#define STORE(j, c) \
    if (col + (j) < N) C[row * N + col + (j)] = beta == 0 ? alpha * (c) : alpha * (c) + beta * C[row * N + col + (j)]
    STORE(0, c0);
    STORE(16, c1);
    STORE(32, c2);
    STORE(48, c3);
#undef STORE
}
