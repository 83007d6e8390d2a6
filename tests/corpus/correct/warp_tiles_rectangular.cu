// entry: warptile
// grid: (-(-N // 64), -(-M // 32))
// block: 128
// about: Four warps in a rectangle, each with a rectangle of threads of its own.

constexpr int BM = 32, BN = 64, BK = 8, WM = 16, WN = 32, TM = 4, TN = 4;
__global__ __launch_bounds__(128, 2) void warptile(int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B, float beta, float* __restrict__ C) {
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int wm = warp / (BN / WN), wn = warp % (BN / WN);
    const int lm = lane / 8, ln = lane % 8;
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = threadIdx.x; e < BM * BK; e += 128) {
            const int m = e / BK, k = e % BK;
            const int row = blockIdx.y * BM + m, kk = k0 + k;
            As[k][m] = row < M && kk < K ? A[size_t(row) * K + kk] : 0.f;
        }
        for (int e = threadIdx.x; e < BN * BK; e += 128) {
            const int k = e / BN, n = e % BN;
            const int col = blockIdx.x * BN + n, kk = k0 + k;
            Bs[k][n] = col < N && kk < K ? B[size_t(kk) * N + col] : 0.f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; ++i) a[i] = As[k][wm * WM + lm * TM + i];
            for (int j = 0; j < TN; ++j) b[j] = Bs[k][wn * WN + ln * TN + j];
            for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) for (int j = 0; j < TN; ++j) {
        const int row = blockIdx.y * BM + wm * WM + lm * TM + i;
        const int col = blockIdx.x * BN + wn * WN + ln * TN + j;
        if (row < M && col < N) {
            float& c = C[size_t(row) * N + col];
            c = beta == 0.f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * c;
        }
    }
}
