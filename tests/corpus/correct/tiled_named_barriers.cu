// entry: gemm
// grid: (-(-N // 16), -(-M // 8))
// block: 128
// about: Two halves of a block work on their own tiles and wait at their own named barriers (inline PTX).

__device__ __forceinline__ void wait(int half) { asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory"); }

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][8][8], Bs[2][8][8];
    const int half = threadIdx.x / 64, t = threadIdx.x % 64, tx = t % 8, ty = t / 8;
    const int row = blockIdx.y * 8 + ty, col = (blockIdx.x * 2 + half) * 8 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[half][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[half][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        wait(half);
        for (int k = 0; k < 8; ++k) acc += As[half][ty][k] * Bs[half][k][tx];
        wait(half);
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
