// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: 256
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: The next tile is stored over the one that is read.

__global__ void __launch_bounds__(256)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][8][33], Bs[2][8][32];
    const int t = threadIdx.x, tr = t / 16 * 2, tc = t % 16 * 2;
    const int ar = blockIdx.y * 32 + t / 8, ak = t % 8, bk = t / 32, bc = blockIdx.x * 32 + t % 32;
    float acc[2][2] = {};
    float a = ar < M && ak < K ? A[ar * K + ak] : 0.0f, b = bk < K && bc < N ? B[bk * N + bc] : 0.0f;
    As[0][ak][t / 8] = a;
    Bs[0][bk][t % 32] = b;
    __syncthreads();
    const int tiles = (K + 7) / 8;
    for (int tile = 0; tile < tiles; ++tile) {
        const int now = tile & 1, next = now ^ 1, k0 = (tile + 1) * 8;
        const bool more = tile + 1 < tiles;
        if (more) {
            a = ar < M && k0 + ak < K ? A[ar * K + k0 + ak] : 0.0f;
            b = k0 + bk < K && bc < N ? B[(k0 + bk) * N + bc] : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < 8; ++k)
#pragma unroll
            for (int e = 0; e < 4; ++e) acc[e >> 1][e & 1] += As[now][k][tr + (e >> 1)] * Bs[now][k][tc + (e & 1)];  // BUG: shows
        if (more) {
            As[now][ak][t / 8] = a;  // BUG
            Bs[next][bk][t % 32] = b;
            __syncthreads();
        }
    }
    for (int e = 0; e < 4; ++e) {
        const int row = blockIdx.y * 32 + tr + e / 2, col = blockIdx.x * 32 + tc + e % 2;
        if (row >= M || col >= N) continue;
        const float sum = alpha * acc[e / 2][e % 2];
        C[row * N + col] = beta == 0.0f ? sum : sum + beta * C[row * N + col];
    }
}
