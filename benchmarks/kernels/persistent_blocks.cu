// entry: gemm
// grid: 7
// block: (8, 16)
// about: Seven blocks share all tiles of C; the width of a row of B's tile is 12 words, for 8 columns.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][12];
    const int tx = threadIdx.x, ty = threadIdx.y, across = (N + 7) / 8, tiles = across * ((M + 15) / 16);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int row = tile / across * 16 + ty, col = tile % across * 8 + tx;
        float acc = 0.0f;
        for (int k0 = 0; k0 < K; k0 += 16) {
            for (int c = tx; c < 16; c += 8) As[ty][c] = row < M && k0 + c < K ? A[row * K + k0 + c] : 0.0f;
            Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
            __syncthreads();
        }
        if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
    }
}
