// entry: gemm<2>; gemm<4>; gemm<8>; gemm<32>
// grid: (-(-N // 32), -(-M // 4))
// block: (32, 4)
// about: Neighbours of B's tile lie WAYS words apart, so loads and stores of a warp meet WAYS to a bank.

template <int WAYS>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float Bs[8][32 * WAYS], As[4][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 4 + ty, col = blockIdx.x * 32 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        if (tx < 8) As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        for (int r = ty; r < 8; r += 4) Bs[r][tx * WAYS] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += As[ty][k] * Bs[k][tx * WAYS];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
