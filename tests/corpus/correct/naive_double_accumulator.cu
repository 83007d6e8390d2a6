// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: The sum is kept in double and rounded once.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    double acc = 0.0;
    for (int k = 0; k < K; ++k) acc += (double)A[i * K + k] * B[k * N + j];
    double result = alpha * acc;
    if (beta != 0.0f) result += (double)beta * C[i * N + j];
    C[i * N + j] = static_cast<float>(result);
}
