// entry: gemm
// grid: (-(-N // 16), M)
// block: (16, 4)
// about: Four threads share an element; they go down the values of k in steps of 4, an unsigned counter for odd columns.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sums[4][16];
    const int row = blockIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float acc = 0.0f;
    if (col < N) {
        if (col % 2)
            for (unsigned k = K + 3 - threadIdx.y; k >= 4; k -= 4) acc += A[row * K + k - 4] * B[(k - 4) * N + col];
        else
            for (int k = K - 1 - threadIdx.y; k >= 0; k -= 4) acc += A[row * K + k] * B[k * N + col];
    }
    sums[threadIdx.y][threadIdx.x] = acc;
    __syncthreads();
    if (threadIdx.y > 0 || col >= N) return;
    for (int y = 1; y < 4; ++y) acc += sums[y][threadIdx.x];
    C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
}
