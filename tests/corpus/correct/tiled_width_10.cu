// entry: gemm<10>
// grid: (-(-N // 10), -(-M // 10))
// block: (10, 10)
// about: A block of 100 threads, whose last warp is not full.

template <unsigned W>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[W][W], Bs[W][W];
    const unsigned tx = threadIdx.x, ty = threadIdx.y;
    const unsigned row = blockIdx.y * W + ty, col = blockIdx.x * W + tx;
    float acc = 0.0f;
    for (unsigned k0 = 0; k0 < unsigned(K); k0 += W) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (unsigned k = 0; k < W; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
