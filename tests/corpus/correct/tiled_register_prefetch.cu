// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (35, 37, 19), (32, 36, 32)
// about: The next tile waits in registers while this one is used.

#define T 16

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float a = row < M && tx < K ? A[row * K + tx] : 0.0f;
    float b = ty < K && col < N ? B[ty * N + col] : 0.0f;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = a;
        Bs[ty][tx] = b;
        __syncthreads();
        const int next = k0 + T;
        if (next < K) {
            a = row < M && next + tx < K ? A[row * K + next + tx] : 0.0f;
            b = next + ty < K && col < N ? B[(next + ty) * N + col] : 0.0f;
        }
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
