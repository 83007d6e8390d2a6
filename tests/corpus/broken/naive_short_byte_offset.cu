// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (8, 100, 100)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: Byte offsets are kept in a short, which 32 KB of B overflow.

__device__ float word(const float *base, short offset) {  // BUG
    return *reinterpret_cast<const float *>(reinterpret_cast<const char *>(base) + offset);  // BUG: shows
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[row * K + k] * word(B, (k * N + col) * sizeof(float));  // BUG: shows
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
