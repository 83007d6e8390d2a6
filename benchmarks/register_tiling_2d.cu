// A kernel for benchmarks/emulator.py: 2D register tiling, 8 x 8 results per thread in a block of 256 threads. The words that
// a thread reads from shared memory serve 64 multiply-adds, so this shows how fast the emulator does arithmetic.

template <int BM, int BN, int BK, int TM, int TN>
__global__ void register_tiling_2d(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];
    constexpr int THREADS = (BM / TM) * (BN / TN);
    int tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int s = 0; s < BM * BK / THREADS; ++s) {
            int i = threadIdx.x + s * THREADS;
            int m = i / BK, k = i % BK;
            As[k][m] = row0 + m < M && k0 + k < K ? A[(size_t)(row0 + m) * K + k0 + k] : 0.0f;
        }
        #pragma unroll
        for (int s = 0; s < BN * BK / THREADS; ++s) {
            int i = threadIdx.x + s * THREADS;
            int k = i / BN, n = i % BN;
            Bs[k][n] = k0 + k < K && col0 + n < N ? B[(size_t)(k0 + k) * N + col0 + n] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            #pragma unroll
            for (int i = 0; i < TM; ++i) a[i] = As[k][ty * TM + i];
            #pragma unroll
            for (int j = 0; j < TN; ++j) b[j] = Bs[k][tx * TN + j];
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
            int m = row0 + ty * TM + i, n = col0 + tx * TN + j;
            if (m < M && n < N) {
                float old = beta == 0.0f ? 0.0f : beta * C[(size_t)m * N + n];
                C[(size_t)m * N + n] = alpha * acc[i][j] + old;
            }
        }
}
