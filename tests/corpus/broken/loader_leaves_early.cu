// entry: specialised
// grid: (-(-N // 16), -(-M // 16))
// block: 128
// shapes: (35, 37, 19), (16, 16, 40)
// defect: // BUG
// kinds: wrong-values, race, uninitialized, barrier-divergence
// about: The loaders leave after the last tile is stored.

constexpr int W = 16;

__global__ void specialised(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float as[2][W][W], bs[2][W][W];
    const int t = threadIdx.x % 64, tiles = (K + W - 1) / W;
    const bool loads = threadIdx.x >= 64;
    const int m0 = blockIdx.y * W, n0 = blockIdx.x * W;
    float acc[4] = {0, 0, 0, 0};                              // element (t / 16 + 4 * i, t % 16)
    for (int tile = 0; tile <= tiles; ++tile) {
        if (loads && tile < tiles) {
            for (int e = t; e < W * W; e += 64) {
                const int r = e / W, c = e % W, k0 = tile * W;
                as[tile & 1][r][c] = m0 + r < M && k0 + c < K ? A[(m0 + r) * K + k0 + c] : 0.0f;
                bs[tile & 1][r][c] = k0 + r < K && n0 + c < N ? B[(k0 + r) * N + n0 + c] : 0.0f;
            }
        }
        if (!loads && tile > 0) {
            const int now = (tile - 1) & 1;
            for (int k = 0; k < W; ++k)
                for (int i = 0; i < 4; ++i) acc[i] += as[now][t / W + 4 * i][k] * bs[now][k][t % W];  // BUG: shows
        }
        __syncthreads();
        if (loads && tile == 0) return;  // BUG
    }
    if (loads) return;
    for (int i = 0; i < 4; ++i) {
        const int row = m0 + t / W + 4 * i, col = n0 + t % W;
        if (row < M && col < N)
            C[row * N + col] = alpha * acc[i] + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
    }
}
