// entry: wrap
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: Beyond K the first columns are taken once more.

__global__ void wrap(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = A[min(row, M - 1) * K + (k0 + tx) % K];  // BUG
        Bs[ty][tx] = B[((k0 + ty) % K) * N + min(col, N - 1)];
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
