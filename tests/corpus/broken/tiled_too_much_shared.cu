// entry: gemm
// grid: (-(-N // 128), -(-M // 128))
// block: (32, 32)
// line: none
// defect: // BUG
// kinds: compile-error, unsupported
// about: Two static tiles of 64 KB; a kernel may have 48 KB, so it cannot be built.

#define T 128

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[T][T];  // BUG
    __shared__ float Bs[T][T];  // BUG
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int r = threadIdx.y; r < T; r += 32)
            for (int c = threadIdx.x; c < T; c += 32) {
                As[r][c] = row0 + r < M && k0 + c < K ? A[(row0 + r) * K + k0 + c] : 0.0f;
                Bs[r][c] = k0 + r < K && col0 + c < N ? B[(k0 + r) * N + col0 + c] : 0.0f;
            }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) acc[i][j] += As[threadIdx.y + 32 * i][k] * Bs[k][threadIdx.x + 32 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + threadIdx.y + 32 * i, col = col0 + threadIdx.x + 32 * j;
            if (row < M && col < N)
                C[row * N + col] = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * C[row * N + col];
        }
}
