// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Calls that the compiler must not inline, one with a result by reference.

__device__ __noinline__ float dot(const float *a, const float *b, int n, int stride) {
    float s = 0.0f;
    for (int i = 0; i < n; ++i) s += a[i] * b[i * stride];
    return s;
}

__device__ __noinline__ void store(float &c, float acc, float alpha, float beta) {
    if (beta == 0.0f) {
        c = alpha * acc;
        return;
    }
    c = alpha * acc + beta * c;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) store(C[row * N + col], dot(&A[row * K], &B[col], K, N), alpha, beta);
}
