// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 4)
// about: The result goes through the memory of A's tile, turned, so that it leaves row by row; strips of 4 rows.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    float acc[4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int r = ty; r < 16; r += 4) {
            As[r][tx] = row0 + r < M && k0 + tx < K ? A[(row0 + r) * K + k0 + tx] : 0.0f;
            Bs[r][tx] = k0 + r < K && col0 + tx < N ? B[(k0 + r) * N + col0 + tx] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[i] += As[tx][k] * Bs[k][ty * 4 + i];  // threadIdx.x walks down the rows
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) As[tx][ty * 4 + i] = alpha * acc[i];
    __syncthreads();
    for (int r = ty; r < 16; r += 4) {
        const int row = row0 + r, col = col0 + tx;
        if (row < M && col < N) C[row * N + col] = beta == 0.0f ? As[r][tx] : As[r][tx] + beta * C[row * N + col];
    }
}
