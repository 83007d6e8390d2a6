// entry: third
// grid: (-(-N // 8), -(-M // 8))
// block: 96
// about: The third warp only loads.

__global__ void third(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // 64 outputs, 96 threads: the last warp only helps to load
    __shared__ float As[8][12], Bs[12][8];
    int t = threadIdx.x, y = t / 8, x = t % 8, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 12) {
        int ar = t / 12, ac = t % 12;
        As[ar][ac] = blockIdx.y * 8 + ar < M && k0 + ac < K ? A[(blockIdx.y * 8 + ar) * K + k0 + ac] : 0;
        Bs[y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0;
        __syncthreads();
        if (t < 64)
            for (int k = 0; k < 12; ++k) acc += As[y][k] * Bs[k][x];
        __syncthreads();
    }
    if (t < 64 && row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
