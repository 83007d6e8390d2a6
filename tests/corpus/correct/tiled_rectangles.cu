// entry: gemm<16, 32, 8>
// grid: (-(-N // 32), -(-M // 16))
// block: (32, 16)
// about: Tiles of three different widths, filled by strided loops over a one-dimensional thread number.

template <int BM, int BN, int BK>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[BM][BK];
    __shared__ float Bs[BK][BN];
    const int t = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = t; i < BM * BK; i += threads) {
            int r = row0 + i / BK, c = k0 + i % BK;
            As[i / BK][i % BK] = r < M && c < K ? A[r * K + c] : 0.0f;
        }
        for (int i = t; i < BK * BN; i += threads) {
            int r = k0 + i / BN, c = col0 + i % BN;
            (&Bs[0][0])[i] = r < K && c < N ? B[r * N + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    const int row = row0 + threadIdx.y, col = col0 + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
