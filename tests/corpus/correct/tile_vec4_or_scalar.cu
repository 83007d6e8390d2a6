// entry: sgemm
// grid: (-(-N // 32), -(-M // 32))
// block: (8, 16)
// shapes: (35, 37, 19), (36, 40, 20)
// about: Rows of B are fetched four floats at a time where the rows are aligned, else one at a time.

constexpr int TILE_M = 32, TILE_N = 32, TILE_K = 16;

__global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a_tile[TILE_K][TILE_M];
    __shared__ __align__(16) float b_tile[TILE_K][TILE_N];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx;
    const int m0 = blockIdx.y * TILE_M, n0 = blockIdx.x * TILE_N;
    const bool aligned = N % 4 == 0;
    float sum[2][4] = {};
    for (int k0 = 0; k0 < K; k0 += TILE_K) {
        for (int e = t; e < TILE_M * TILE_K; e += 128) {
            const int m = e / TILE_K, k = e % TILE_K;
            a_tile[k][m] = m0 + m < M && k0 + k < K ? A[(m0 + m) * K + k0 + k] : 0.f;
        }
        const int k = ty, n = tx * 4;
        const float *src = B + (k0 + k) * N + n0 + n;
        if (k0 + k < K && aligned && n0 + n < N) {
            *reinterpret_cast<float4 *>(&b_tile[k][n]) = *reinterpret_cast<const float4 *>(src);
        } else {
            for (int j = 0; j < 4; ++j) b_tile[k][n + j] = k0 + k < K && n0 + n + j < N ? src[j] : 0.f;
        }
        __syncthreads();
        for (int kk = 0; kk < TILE_K; ++kk) {
            const float4 b = *reinterpret_cast<const float4 *>(&b_tile[kk][n]);
            const float a0 = a_tile[kk][ty], a1 = a_tile[kk][ty + 16];
            sum[0][0] += a0 * b.x; sum[0][1] += a0 * b.y; sum[0][2] += a0 * b.z; sum[0][3] += a0 * b.w;
            sum[1][0] += a1 * b.x; sum[1][1] += a1 * b.y; sum[1][2] += a1 * b.z; sum[1][3] += a1 * b.w;
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) {
            const int m = m0 + ty + 16 * i, n = n0 + tx * 4 + j;
            if (m < M && n < N) {
                float value = alpha * sum[i][j];
                if (beta != 0.f) value += beta * C[m * N + n];
                C[m * N + n] = value;
            }
        }
}
