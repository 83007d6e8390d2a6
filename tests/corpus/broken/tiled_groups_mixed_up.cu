// entry: gemm
// grid: -(-N // 16) * -(-M // 16)
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: / and % are swapped, so groups of blocks overlap.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int T = 16, GROUP = 2;
    __shared__ float As[T][T], Bs[T][T];
    const int down = (M + T - 1) / T, across = (N + T - 1) / T;
    const int group = blockIdx.x / (GROUP * across), first = group * GROUP;
    const int height = min(GROUP, down - first);
    const int inside = blockIdx.x % (GROUP * across);
    const int row = (first + inside / height) * T + threadIdx.y, col = inside % height * T + threadIdx.x;  // BUG
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && col < N ? B[(k0 + threadIdx.y) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];  // BUG: shows
}
