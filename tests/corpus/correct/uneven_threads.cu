// entry: gemm
// grid: (-(-N // 12), -(-M // 10))
// block: 120
// about: 120 threads, tiles of 10 x 12, and a loader that goes round more often for some threads than for others.

constexpr int R = 10, S = 12, D = 7;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[R * D], b[D * S];
    const int t = threadIdx.x, row = blockIdx.y * R + t / S, col = blockIdx.x * S + t % S;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += D) {
        for (int i = t; i < R * D + D * S; i += blockDim.x) {
            if (i < R * D) {
                const int r = blockIdx.y * R + i / D, k = k0 + i % D;
                a[i] = r < M && k < K ? A[r * K + k] : 0.0f;
            } else {
                const int j = i - R * D, k = k0 + j / S, c = blockIdx.x * S + j % S;
                b[j] = k < K && c < N ? B[k * N + c] : 0.0f;
            }
        }
        __syncthreads();
        for (int k = 0; k < D; ++k) sum += a[t / S * D + k] * b[k * S + t % S];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
}
