// entry: sliced
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8, 4)
// about: Four slices of K; the partial sums take the place of the tiles, in a union.

__global__ void sliced(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // threadIdx.z is a slice of k; the partial sums go through the memory of the tiles
    extern __shared__ char unused[];
    __shared__ union { struct { float a[4][8][8], b[4][8][8]; } tile; float sum[4][8][8]; } s;
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        int k = k0 + z * 8;
        s.tile.a[z][y][x] = row < M && k + x < K ? A[row * K + k + x] : 0;
        s.tile.b[z][y][x] = col < N && k + y < K ? B[(k + y) * N + col] : 0;
        __syncthreads();
        for (int i = 0; i < 8; ++i) acc += s.tile.a[z][y][i] * s.tile.b[z][i][x];
        __syncthreads();
    }
    s.sum[z][y][x] = acc;
    __syncthreads();
    for (int h = 2; h > 0; h /= 2) {
        if (z < h) s.sum[z][y][x] += s.sum[z + h][y][x];
        __syncthreads();
    }
    if (z == 0 && row < M && col < N) {
        float v = alpha * s.sum[0][y][x];
        C[row * N + col] = beta == 0 ? v : v + beta * C[row * N + col];
    }
}
