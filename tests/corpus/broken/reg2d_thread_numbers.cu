// entry: gemm<32, 16, 8, 4, 4>
// grid: (-(-N // 16), -(-M // 32))
// block: 32
// defect: // BUG
// kinds: out-of-bounds, race, wrong-values
// about: Threads are counted by the rows of the block where its columns are meant.

template <int ROWS, int COLS, int THREADS>
__device__ __forceinline__ void load(float (&tile)[ROWS][COLS], const float *X, int row0, int col0, int rows,
                                     int cols) {
    for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
        const int r = i / COLS, c = i % COLS;
        tile[r][c] = row0 + r < rows && col0 + c < cols ? X[(size_t)(row0 + r) * cols + col0 + c] : 0.0f;
    }
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int THREADS = (BM / TM) * (BN / TN);
    static_assert(BM % TM == 0 && BN % TN == 0, "a thread's elements must fill the block's");
    __shared__ float As[BM][BK];
    __shared__ float Bs[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int tr = threadIdx.x / (BM / TM) * TM, tc = threadIdx.x % (BM / TM) * TN;  // BUG

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        load<BM, BK, THREADS>(As, A, row0, k0, M, K);
        load<BK, BN, THREADS>(Bs, B, k0, col0, K, N);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) a[i] = As[tr + i][k];
#pragma unroll
            for (int j = 0; j < TN; ++j) b[j] = Bs[k][tc + j];  // BUG: shows
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int row = row0 + tr + i, col = col0 + tc + j;
            if (row < M && col < N) {
                float *c = C + (size_t)row * N + col;
                *c = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *c;  // BUG: shows
            }
        }
}
