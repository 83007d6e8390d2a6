// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8)
// about: Threads outside leave by an early return, but after the last barrier.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[8][8];
    __shared__ float Bs[8][8];
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0;
        Bs[threadIdx.y][threadIdx.x] = col < N && k0 + threadIdx.y < K ? B[(k0 + threadIdx.y) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row >= M) return;
    if (col >= N) return;
    if (beta == 0) {
        C[row * N + col] = alpha * acc;
        return;
    }
    C[row * N + col] = alpha * acc + beta * C[row * N + col];
}
