// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Not a bug: a function sets its result only where it says so, and the caller asks first.

__device__ bool dot(const float *A, const float *B, int row, int col, int M, int N, int K, float *result) {
    if (row >= M || col >= N) return false;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    *result = sum;
    return true;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float ab, scaled;
    const bool known = dot(A, B, row, col, M, N, K, &ab);
    scaled = alpha * ab;
    if (known) C[row * N + col] = beta == 0.0f ? scaled : scaled + beta * C[row * N + col];
}
