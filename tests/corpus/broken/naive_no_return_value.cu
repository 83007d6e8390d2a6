// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: A function that should return the sum has no return statement.

__device__ float dot(const float *a, const float *b, int n, int stride) {  // BUG
    float s = 0.0f;
    for (int i = 0; i < n; ++i) s += a[i] * b[i * stride];
}  // BUG

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    const float acc = dot(A + row * K, B + col, K, N);  // BUG: shows
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];  // BUG: shows
}
