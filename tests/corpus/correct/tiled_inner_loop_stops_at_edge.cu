// entry: minbound
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Nothing is filled with zeros: the inner loop ends where the matrix does.

__global__ void minbound(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // no zero fill at all: the inner loop stops at the edge of the matrix
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    bool active = row < M && col < N;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        int kmax = min(16, K - k0);
        if (row < M && tx < kmax) As[ty][tx] = A[row * K + k0 + tx];
        if (col < N && ty < kmax) Bs[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        if (active) for (int k = 0; k < kmax; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (active) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
