// entry: gemm
// grid: (-(-N // 8), -(-M // 4))
// block: (8, 4)
// about: One warp to a block, 8 x 4 threads; rows of A's tile are 9 words long.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[4][9], Bs[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 4 + ty, col = blockIdx.x * 8 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        for (int r = ty; r < 8; r += 4) Bs[r][tx] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
