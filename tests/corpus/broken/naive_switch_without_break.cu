// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: default
// defect: // BUG
// kinds: wrong-values
// about: The case beta = 1 falls through and overwrites C.

enum class Beta { zero, one, other };

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    const Beta which = beta == 0.0f ? Beta::zero : beta == 1.0f ? Beta::one : Beta::other;
    float &c = C[row * N + col];
    float old = 0.0f;
    switch (which) {
        case Beta::one:
            c += alpha * acc;  // BUG: missing
        case Beta::other:
            old = beta * c;
            // fall through
        case Beta::zero:
            c = alpha * acc + old;
    }
}
