// entry: gemm<2>
// grid: (-(-N // 32), -(-M // 32))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: The indices of the sums are swapped in the store.

template <int W>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int T = 16, S = T * W;
    __shared__ float As[S][T + 1], Bs[T][S];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * S, col0 = blockIdx.x * S;
    float acc[W][W];
    for (auto &line : acc)
        for (float &x : line) x = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int w = 0; w < W; ++w) {
            const int row = row0 + w * T + ty, col = col0 + w * T + tx;
            As[w * T + ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            Bs[ty][w * T + tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < T; ++k)
            for (int i = 0; i < W; ++i)
                for (int j = 0; j < W; ++j) acc[i][j] += As[i * T + ty][k] * Bs[k][j * T + tx];
        __syncthreads();
    }
    for (int i = 0; i < W; ++i)
        for (int j = 0; j < W; ++j) {
            const int row = row0 + i * T + ty, col = col0 + j * T + tx;
            if (row >= M || col >= N) continue;
            float &c = C[row * N + col];
            c = beta == 0.0f ? alpha * acc[j][i] : alpha * acc[j][i] + beta * c;  // BUG
        }
}
