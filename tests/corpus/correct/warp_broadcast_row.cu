// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: (32, 4)
// about: A warp keeps 32 words of A in its registers and hands them round by __shfl_sync.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x;
    const int col = blockIdx.x * 32 + lane, row = blockIdx.y * 4 + threadIdx.y;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        const float mine = row < M && k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        for (int i = 0; i < 32; ++i) {
            const float a = __shfl_sync(0xffffffff, mine, i);
            if (k0 + i < K && col < N) acc += a * B[(k0 + i) * N + col];
        }
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
