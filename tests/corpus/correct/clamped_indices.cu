// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Not a bug: indices beyond the edges are clamped, and what is read there is multiplied by 0 or not stored.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    const float *a = A + min(row, M - 1) * K, *b = B + min(col, N - 1);
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        const int ka = k0 + tx, kb = k0 + ty;
        As[ty][tx] = a[min(ka, K - 1)] * (ka < K);
        Bs[ty][tx] = b[min(kb, K - 1) * N] * (kb < K);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
