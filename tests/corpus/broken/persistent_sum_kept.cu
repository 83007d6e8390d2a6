// entry: keep
// grid: 2
// block: (8, 8)
// shapes: (20, 20, 8)
// defect: // BUG
// kinds: wrong-values
// about: The sum of the last tile is not cleared.

__global__ void keep(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int tilesN = (N + 7) / 8, tiles = tilesN * ((M + 7) / 8);
    float acc = 0.f;  // BUG
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int row = t / tilesN * 8 + threadIdx.y, col = t % tilesN * 8 + threadIdx.x;
        if (row < M && col < N) {
            for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
            C[row * N + col] = alpha * acc + (beta == 0.f ? 0.f : beta * C[row * N + col]);
        }
    }
}
