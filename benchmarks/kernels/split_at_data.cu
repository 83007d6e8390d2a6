// entry: gemm
// grid: (-(-N // 16), -(-M // 2))
// block: (16, 2)
// about: Where a lane cuts its sum depends on the data; both loops leave out what is zero.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 2 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    int first = (int)(8.0f * fabsf(B[col]));
    first = first < K ? first : K;
    float acc = 0.0f;
    for (int k = 0; k < first; ++k)
        if (A[row * K + k] != 0.0f) acc += A[row * K + k] * B[k * N + col];
    for (int k = first; k < K; ++k)
        if (A[row * K + k] != 0.0f) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
}
