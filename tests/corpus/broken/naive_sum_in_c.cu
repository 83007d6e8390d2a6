// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: The sum is kept in C itself, which holds something else, or NaN, when the kernel starts.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row < M && col < N)
        for (int k = 0; k < K; ++k) C[row * N + col] += alpha * A[row * K + k] * B[k * N + col];  // BUG
}
