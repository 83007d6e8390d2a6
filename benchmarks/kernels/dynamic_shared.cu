// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shared_bytes: 4 * (16 * 24 + 24 * 16)
// about: Both tiles lie in one piece of dynamic shared memory; a step takes 24 words of K.

extern __shared__ float memory[];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float *As = memory, *Bs = memory + 16 * 24;
    const int t = threadIdx.y * 16 + threadIdx.x, row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 24) {
        for (int i = t; i < 16 * 24; i += 256) {
            As[i] = row0 + i / 24 < M && k0 + i % 24 < K ? A[(row0 + i / 24) * K + k0 + i % 24] : 0.0f;
            Bs[i] = k0 + i / 16 < K && col0 + i % 16 < N ? B[(k0 + i / 16) * N + col0 + i % 16] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 24; ++k) acc += As[threadIdx.y * 24 + k] * Bs[k * 16 + threadIdx.x];
        __syncthreads();
    }
    const int row = row0 + threadIdx.y, col = col0 + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
