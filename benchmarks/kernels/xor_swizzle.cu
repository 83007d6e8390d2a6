// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: (32, 8)
// about: A's tile lies transposed, its columns exchanged by an exclusive or with the row, so that no two lanes meet.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float At[32][32], Bs[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * 32, col = blockIdx.x * 32 + tx;
    float acc[4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int r = ty; r < 32; r += 8) {
            At[tx][r ^ tx] = row0 + r < M && k0 + tx < K ? A[(row0 + r) * K + k0 + tx] : 0.0f;
            Bs[r][tx] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            const float b = Bs[k][tx];
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[i] += At[k][(ty + 8 * i) ^ k] * b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty + 8 * i;
        if (row < M && col < N)
            C[row * N + col] = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * C[row * N + col];
    }
}
