// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: 32
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The first row is not fetched before the loop.

__device__ __noinline__ void fetch(float *to, const float *B, int k, int N, int col) {
    for (int j = 0; j < 4; ++j) to[j] = col + 32 * j < N ? B[k * N + col + 32 * j] : 0.0f;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    float first[4], second[4], acc[4][1] = {};
    float *now = first, *next = second;
    // BUG: missing
    for (int k = 0; k < K; ++k) {
        if (k + 1 < K) fetch(next, B, k + 1, N, col);
        for (int i = 0; i < 4; ++i)
            if (blockIdx.y * 4 + i < M) acc[i][0] += A[(blockIdx.y * 4 + i) * K + k] * now[0];  // BUG: shows
        float *const t = now;
        now = next;
        next = t;
    }
    for (int i = 0; i < 4; ++i) {
        const int row = blockIdx.y * 4 + i;
        if (row < M && col < N)
            C[row * N + col] = beta == 0.0f ? alpha * acc[i][0] : alpha * acc[i][0] + beta * C[row * N + col];
    }
}
