__global__ void relay(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int ROWS = 8, COLS = 16, STEP = 8;  // a block computes ROWS x COLS elements with 4 warps
    __shared__ float As[ROWS][STEP], Bs[STEP][COLS];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * ROWS + ty, col = blockIdx.x * COLS + tx;
    const int warp = ty / 2, lane = ty % 2 * COLS + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += STEP) {
        if (warp == LOADER) {  // one warp brings both tiles
            for (int i = lane; i < ROWS * STEP; i += 32) {
                const int r = blockIdx.y * ROWS + i / STEP, k = k0 + i % STEP;
                As[i / STEP][i % STEP] = r < M && k < K ? A[(size_t)r * K + k] : 0.0f;
            }
            for (int i = lane; i < STEP * COLS; i += 32) {
                const int k = k0 + i / COLS, c = blockIdx.x * COLS + i % COLS;
                Bs[i / COLS][i % COLS] = k < K && c < N ? B[(size_t)k * N + c] : 0.0f;
            }
        }
        __syncthreads();  // first
        for (int k = 0; k < STEP; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();  // second
    }
    if (row < M && col < N) {
        float *c = C + (size_t)row * N + col;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}
