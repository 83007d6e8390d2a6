// entry: gemm
// grid: (-(-N // 8), -(-M // 16))
// block: 128
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: Each half of the block waits for itself, and both read a tile of B that they load together.

__device__ __forceinline__ void wait(int half) { asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory"); }

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][8];
    const int half = threadIdx.x / 64, tx = threadIdx.x % 8, ty = threadIdx.x / 8;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 8 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int k = tx; k < 16; k += 8) As[ty][k] = row < M && k0 + k < K ? A[row * K + k0 + k] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;  // BUG: shows
        wait(half);  // BUG
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        wait(half);  // BUG
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
