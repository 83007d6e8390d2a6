// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Clamped addresses, and bytes in shared memory that say which words of the tiles count.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    __shared__ unsigned char use[16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = A[min(row, M - 1) * K + min(k0 + tx, K - 1)];
        Bs[ty][tx] = B[min(k0 + ty, K - 1) * N + min(col, N - 1)];
        if (ty == 0) use[tx] = k0 + tx < K ? 'y' : 'n';
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            if (use[k] == 'y') acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
