// entry: gemm
// grid: -(-(M * N) // 96)
// block: 96
// about: A one-dimensional launch; row and column come from a 64-bit division.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long long)M * N) return;
    const long long row = i / N, col = i % N;
    float acc = 0.0f;
    for (long long k = 0; k < K; ++k)
        acc += A[row * K + k] * B[k * N + col];
    C[i] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[i]);
}
