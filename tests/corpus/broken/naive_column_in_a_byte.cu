// entry: gemm
// grid: (-(-N // 512), M)
// block: 128
// shapes: (3, 70, 19), (2, 513, 8)
// defect: // BUG
// kinds: race, wrong-values
// about: Four columns for each thread; the first of them is kept in a byte, which thread 64 overflows.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned char first = threadIdx.x * 4;  // BUG
    const int row = blockIdx.y;
    for (int j = 0; j < 4; ++j) {
        const int col = blockIdx.x * 512 + first + j;
        if (col >= N) break;
        float acc = 0.0f;
        for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
        float old = beta == 0.0f ? 0.0f : beta * C[row * N + col];  // BUG: shows
        C[row * N + col] = alpha * acc + old;                       // BUG: shows
    }
}
