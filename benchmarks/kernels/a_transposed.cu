// entry: gemm<0>; gemm<1>; gemm<4>
// grid: (-(-N // 32), -(-M // 32))
// block: (32, 8)
// about: A's tile lies transposed, in rows of 32 + PAD words: a store goes down a column of it; strips of 4 rows.

template <int PAD>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float At[32][32 + PAD], Bs[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * 32, col = blockIdx.x * 32 + tx;
    float acc[4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
#pragma unroll
        for (int r = ty; r < 32; r += 8) {
            At[tx][r] = row0 + r < M && k0 + tx < K ? A[(row0 + r) * K + k0 + tx] : 0.0f;
            Bs[r][tx] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[i] += At[k][ty * 4 + i] * Bs[k][tx];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty * 4 + i;
        if (row < M && col < N)
            C[row * N + col] = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * C[row * N + col];
    }
}
