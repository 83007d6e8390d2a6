// entry: gemm
// grid: (-(-N // 32), M)
// block: 32
// about: Words of A rotate through the lanes of a warp; each lane keeps one row of B's strip in a local array.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned ALL = ~0u;
    const int lane = threadIdx.x, row = blockIdx.y, col = blockIdx.x * 32 + lane;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        float a = k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        for (int step = 0; step < 32; ++step) {
            const int k = k0 + (lane + step) % 32;
            if (k < K && col < N) acc += a * B[k * N + col];
            a = __shfl_sync(ALL, a, (lane + 1) % 32);
        }
    }
    if (col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
