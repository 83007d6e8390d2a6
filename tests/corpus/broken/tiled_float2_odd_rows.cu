// entry: gemm
// grid: (-(-N // 32), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: misaligned, wrong-values
// about: Pairs are read from rows of 33 words in shared memory: every second row begins at an odd word.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16];
    __shared__ __align__(16) float Bs[16][33];  // BUG
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 32 + 2 * tx;
    float x = 0.0f, y = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][2 * tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        Bs[ty][2 * tx + 1] = k0 + ty < K && col + 1 < N ? B[(k0 + ty) * N + col + 1] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            const float2 b = *(const float2 *)&Bs[k][2 * tx];  // BUG
            x += As[ty][k] * b.x;
            y += As[ty][k] * b.y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * x : alpha * x + beta * C[row * N + col];
    if (row < M && col + 1 < N) C[row * N + col + 1] = beta == 0.0f ? alpha * y : alpha * y + beta * C[row * N + col + 1];
}
