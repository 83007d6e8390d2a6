// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: (8, 8)
// about: 4 x 4 neighbouring elements for a thread, every word of shared memory read on its own.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[32][16], Bs[16][32];
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32, t = threadIdx.y * 8 + threadIdx.x;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = t; i < 32 * 16; i += 64) {
            const int r = i / 16, c = i % 16;
            As[r][c] = row0 + r < M && k0 + c < K ? A[(row0 + r) * K + k0 + c] : 0.0f;
        }
        for (int i = t; i < 16 * 32; i += 64) {
            const int r = i / 32, c = i % 32;
            Bs[r][c] = k0 + r < K && col0 + c < N ? B[(k0 + r) * N + col0 + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k)
#pragma unroll
            for (int e = 0; e < 16; ++e)
                acc[e / 4][e % 4] += As[threadIdx.y * 4 + e / 4][k] * Bs[k][threadIdx.x * 4 + e % 4];
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < 16; ++e) {
        const int row = row0 + threadIdx.y * 4 + e / 4, col = col0 + threadIdx.x * 4 + e % 4;
        if (row >= M || col >= N) continue;
        const float sum = alpha * acc[e / 4][e % 4];
        C[row * N + col] = beta == 0.0f ? sum : sum + beta * C[row * N + col];
    }
}
