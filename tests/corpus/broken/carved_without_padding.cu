// entry: gemm_dyn<24, 16, 8>
// grid: (-(-N // 16), -(-M // 24))
// block: (16, 8)
// shared_bytes: 4 * (24 * (8 + 1) + 8 * 16)
// defect: // BUG
// kinds: race, wrong-values
// about: The second tile starts where the first would end without padding.

extern __shared__ float smem[];

template <int BM, int BN, int BK>
__global__ void gemm_dyn(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int LDA = BK + 1, ROWS = BM / 8;
    float *As = smem, *Bs = smem + BM * BK;  // BUG
    const int tid = threadIdx.y * blockDim.x + threadIdx.x, count = blockDim.x * blockDim.y;
    const int row0 = blockIdx.y * BM, col = blockIdx.x * BN + threadIdx.x;
    float acc[ROWS];
    for (float &x : acc) x = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += count) {
            const int r = i / BK, c = i % BK;
            As[r * LDA + c] = row0 + r < M && k0 + c < K ? A[(row0 + r) * K + k0 + c] : 0.0f;  // BUG: shows
        }
        for (int i = tid; i < BK * BN; i += count) {
            const int r = i / BN, c = i % BN;
            Bs[i] = k0 + r < K && blockIdx.x * BN + c < N ? B[(k0 + r) * N + blockIdx.x * BN + c] : 0.0f;  // BUG: shows
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float b = Bs[k * BN + threadIdx.x];  // BUG: shows
            for (int i = 0; i < ROWS; ++i) acc[i] += As[(threadIdx.y + 8 * i) * LDA + k] * b;  // BUG: shows
        }
        __syncthreads();
    }
    for (int i = 0; i < ROWS; ++i) {
        const int row = row0 + threadIdx.y + 8 * i;
        if (row < M && col < N) {
            const float ab = alpha * acc[i];
            C[row * N + col] = beta == 0.0f ? ab : ab + beta * C[row * N + col];
        }
    }
}
