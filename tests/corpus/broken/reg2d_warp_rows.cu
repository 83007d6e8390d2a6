// entry: gemm
// grid: (-(-N // 64), -(-M // 64))
// block: 128
// shapes: (1, 1, 1), (33, 32, 32), (65, 70, 19), (64, 64, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: The lanes' rows are TN apart, not TM.

namespace {
constexpr int BM = 64, BN = 64, BK = 8, WM = 32, WN = 32, TM = 8, TN = 4;
}

__global__ void __launch_bounds__(128)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float At[BK][BM + 4], Bs[BK][BN];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    const int r0 = warp / (BN / WN) * WM + lane / 8 * TN, c0 = warp % (BN / WN) * WN + lane % 8 * TN;  // BUG: shows
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int i = t; i < BM * BK; i += 128)
            At[i % BK][i / BK] = row0 + i / BK < M && k0 + i % BK < K ? A[(row0 + i / BK) * K + k0 + i % BK] : 0.0f;
#pragma unroll
        for (int i = t; i < BK * BN; i += 128)
            Bs[i / BN][i % BN] = k0 + i / BN < K && col0 + i % BN < N ? B[(k0 + i / BN) * N + col0 + i % BN] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            for (int i = 0; i < TM; ++i) a[i] = At[k][r0 + i];
            for (int j = 0; j < TN; ++j) b[j] = Bs[k][c0 + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = row0 + r0 + i, col = col0 + c0 + j;
            if (row < M && col < N)
                C[row * N + col] = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * C[row * N + col];  // BUG: shows
        }
}
