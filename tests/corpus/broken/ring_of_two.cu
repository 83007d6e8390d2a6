// entry: ring
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8)
// shapes: (19, 21, 50), (8, 8, 3)
// defect: // BUG
// kinds: race, wrong-values
// about: Two buffers are too few for one barrier.

enum { TS = 8, RING = 2 };  // BUG: shows

__global__ void ring(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[RING][TS][TS], b[RING][TS][TS];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TS + y, col = blockIdx.x * TS + x;
    const int tiles = (K + TS - 1) / TS;
    const auto fill = [&](int tile) {
        const int slot = tile % RING, k0 = tile * TS;
        a[slot][y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;  // BUG: shows
        b[slot][y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;  // BUG: shows
    };
    fill(0);
    float sum = 0.0f;
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) fill(tile + 1);
        __syncthreads();
        for (int k = 0; k < TS; ++k) sum += a[tile % RING][y][k] * b[tile % RING][k][x];  // BUG: shows
    }
    if (row < M && col < N) {
        const size_t at = (size_t)row * N + col;
        C[at] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[at];
    }
}
