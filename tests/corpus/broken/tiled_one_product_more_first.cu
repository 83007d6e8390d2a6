// entry: bounds_k
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds, uninitialized, wrong-values
// about: One product too many in the first tile.

__global__ void bounds_k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int t = 0; t <= K / 16; ++t) {
        if (row < M && t * 16 + tx < K) As[ty][tx] = A[row * K + t * 16 + tx];
        if (col < N && t * 16 + ty < K) Bs[ty][tx] = B[(t * 16 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k <= min(16, K - t * 16) - 1 + (t == 0); ++k)  // BUG
            acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
