// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: The tile of A is stored transposed and read straight.

constexpr int T = 16;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float At[T][T + 1];
    __shared__ float Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        float a = 0.0f, b = 0.0f;
        if (row < M && k0 + tx < K) a = A[row * K + (k0 + tx)];
        if (col < N && k0 + ty < K) b = B[(k0 + ty) * N + col];
        At[tx][ty] = a;
        Bs[ty][tx] = b;
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += At[ty][k] * Bs[k][tx];  // BUG
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
