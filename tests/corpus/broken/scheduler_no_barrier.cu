// entry: scheduled
// grid: 3
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values, uninitialized, endless-loop
// about: The number of the tile is read before it is there.

__device__ unsigned next_tile;

__global__ void scheduled(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[16][17], b[16][17];
    __shared__ unsigned tile;
    const int x = threadIdx.x, y = threadIdx.y;
    const unsigned across = (N + 15) / 16, tiles = across * ((M + 15) / 16);
    while (true) {
        if (x == 0 && y == 0) tile = atomicAdd(&next_tile, 1u);  // BUG: shows
        const unsigned mine = tile;  // BUG: shows
        if (mine >= tiles) return;
        const int row = mine / across * 16 + y, col = mine % across * 16 + x;
        float sum = 0.0f;
        for (int k0 = 0; k0 < K; k0 += 16) {
            a[x][y] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
            b[y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < 16; ++k) sum += a[k][y] * b[k][x];
            __syncthreads();
        }
        if (row < M && col < N)
            C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
    }
}
