// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: (32, 4)
// about: A warp computes 32 elements of a row: each lane loads a word of A, which shuffles pass to all; no tiles.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x, row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x * 32 + lane;
    if (row >= M) return;  // the whole warp
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        const float a = k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        const int rounds = min(32, K - k0);
        for (int k = 0; k < rounds; ++k) {
            const float word = __shfl_sync(0xffffffff, a, k);
            if (col < N) acc += word * B[(k0 + k) * N + col];
        }
    }
    if (col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
