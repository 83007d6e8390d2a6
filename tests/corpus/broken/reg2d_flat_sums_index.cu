// entry: gemm
// grid: (-(-N // 16), -(-M // 32))
// block: 64
// defect: // BUG
// kinds: out-of-bounds, uninitialized, wrong-values
// about: A flat array of TM rows of TN sums is indexed as if its rows had TM.

#define BM 32
#define BN 16
#define BK 8
#define TM 4
#define TN 2

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[BM * BK], Bs[BK * BN];
    const int tr = threadIdx.x / (BN / TN), tc = threadIdx.x % (BN / TN);
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM * TN] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += blockDim.x)
            As[i] = row0 + i / BK < M && k0 + i % BK < K ? A[(row0 + i / BK) * K + k0 + i % BK] : 0.0f;
        for (int i = threadIdx.x; i < BK * BN; i += blockDim.x)
            Bs[i] = k0 + i / BN < K && col0 + i % BN < N ? B[(k0 + i / BN) * N + col0 + i % BN] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    acc[i * TM + j] += As[(tr * TM + i) * BK + k] * Bs[k * BN + tc * TN + j];  // BUG
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int row = row0 + tr * TM + i, col = col0 + tc * TN + j;
            if (row < M && col < N)
                C[row * N + col] = beta == 0.0f ? alpha * acc[i * TM + j] : alpha * acc[i * TM + j] + beta * C[row * N + col];  // BUG
        }
}
