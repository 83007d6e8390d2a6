// entry: gemm
// grid: (-(-N // 8), -(-M // 16))
// block: 128
// defect: // BUG
// kinds: barrier-divergence
// about: The halves of a block wait in two branches, and at the same barrier.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][8][8], Bs[2][8][8];
    const int half = threadIdx.x / 64, t = threadIdx.x % 64, tx = t % 8, ty = t / 8;
    const int row = blockIdx.y * 16 + half * 8 + ty, col = blockIdx.x * 8 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        const float a = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        const float b = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        if (half == 0) {
            As[0][ty][tx] = a, Bs[0][ty][tx] = b;
            asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG
            for (int k = 0; k < 8; ++k) acc += As[0][ty][k] * Bs[0][k][tx];
            asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG
        } else {
            As[1][ty][tx] = 2.0f * a, Bs[1][ty][tx] = 0.5f * b;
            asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG
            for (int k = 0; k < 8; ++k) acc += As[1][ty][k] * Bs[1][k][tx];
            asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG
        }
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
