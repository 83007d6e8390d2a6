// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: 128
// about: The two halves of a block take turns with one tile and one named barrier, a barrier of all between them.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[8][8], Bs[8][8];
    const int half = threadIdx.x / 64, t = threadIdx.x % 64, tx = t % 8, ty = t / 8;
    const int row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        if (k0 / 8 % 2 == half) {
            As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
            asm volatile("bar.sync 1, 64;" ::: "memory");
            for (int k = 0; k < 8; ++k) acc += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    float *sums = &As[0][0];
    if (half == 1) sums[t] = acc;
    __syncthreads();
    if (half == 0 && row < M && col < N) {
        acc += sums[t];
        C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
    }
}
