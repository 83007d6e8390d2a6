// entry: gemm
// grid: (-(-N // 8), M)
// block: (8, 8)
// about: Eight threads share an element. Their counters have 64 bits, signed in even columns and unsigned in odd ones.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sums[8][8];
    const int row = blockIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float acc = 0.0f;
    if (col < N) {
        if (col % 2)
            for (size_t k = threadIdx.y; k < K; k += 8) acc += A[row * K + k] * B[k * N + col];
        else
            for (long long k = threadIdx.y; k < K; k += 8) acc += A[row * K + k] * B[k * N + col];
    }
    sums[threadIdx.y][threadIdx.x] = acc;
    __syncthreads();
    if (threadIdx.y > 0 || col >= N) return;
    for (int y = 1; y < 8; ++y) acc += sums[y][threadIdx.x];
    C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
}
