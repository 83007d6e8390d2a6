// entry: gemm
// grid: (-(-N // 16), -(-M // 8))
// block: (16, 8)
// about: Sums in double; B's tile holds doubles, too, so a row of 16 is 128 bytes.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ double Bs[8][16];
    __shared__ float As[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 16 + tx;
    double acc = 0.0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        if (tx < 8) As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += (double)As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row >= M || col >= N) return;
    const double sum = beta == 0.0f ? alpha * acc : alpha * acc + (double)beta * C[row * N + col];
    C[row * N + col] = (float)sum;
}
