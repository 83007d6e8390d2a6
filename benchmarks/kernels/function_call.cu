// entry: gemm
// grid: (-(-N // 16), -(-M // 8))
// block: (16, 8)
// about: The sum of a tile is a function that is not inlined, called with pointers into shared memory.

__device__ __noinline__ float dot(const float *a, const float *b, int length, int step) {
    float sum = 0.0f;
    for (int k = 0; k < length; ++k) sum += a[k] * b[k * step];
    return sum;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[8][16], Bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        for (int r = ty; r < 16; r += 8) Bs[r][tx] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.0f;
        __syncthreads();
        acc += dot(As[ty], &Bs[0][tx], min(16, K - k0), 16);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
