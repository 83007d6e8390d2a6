// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// about: Warps whose row lies beyond M return at once; each of the others has a tile of its own and needs no barrier.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float rows[8][32];
    const int lane = threadIdx.x, row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + lane;
    if (row >= M) return;
    float *mine = rows[threadIdx.y];
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        mine[lane] = k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        __syncwarp();
        const int rounds = min(32, K - k0);
        if (col < N)
            for (int k = 0; k < rounds; ++k) acc += mine[k] * B[(k0 + k) * N + col];
        __syncwarp();
    }
    if (col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
