// entry: warpmix
// grid: (-(-N // 64), -(-M // 16))
// block: 64
// defect: // BUG
// kinds: race, wrong-values
// about: The warps are laid out one below the other; the tile has room for them side by side.

constexpr int kBM = 16, kBN = 64, kBK = 8;
__global__ void warpmix(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sa[kBK][kBM], sb[kBK][kBN];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int wr = warp / 1, wc = warp % 1;  // BUG
    const int tr = lane / 8, tc = lane % 8;
    float acc[4][4] = {{0.f}};
    for (int k0 = 0; k0 < K; k0 += kBK) {
        for (int i = threadIdx.x; i < kBM * kBK; i += 64) {
            int r = i / kBK, c = i % kBK;
            sa[c][r] = blockIdx.y * kBM + r < M && k0 + c < K ? A[(blockIdx.y * kBM + r) * K + k0 + c] : 0.f;
        }
        for (int i = threadIdx.x; i < kBN * kBK; i += 64) {
            int r = i / kBN, c = i % kBN;
            sb[r][c] = k0 + r < K && blockIdx.x * kBN + c < N ? B[(k0 + r) * N + blockIdx.x * kBN + c] : 0.f;
        }
        __syncthreads();
        for (int k = 0; k < kBK; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) acc[i][j] += sa[k][(wr * 16 + tr * 4 + i) % kBM] * sb[k][wc * 32 + tc * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            int m = blockIdx.y * kBM + (wr * 16 + tr * 4 + i) % kBM, n = blockIdx.x * kBN + wc * 32 + tc * 4 + j;
            if (m < M && n < N) C[m * N + n] = alpha * acc[i][j] + (beta == 0.f ? 0.f : beta * C[m * N + n]);  // BUG: shows
        }
}
