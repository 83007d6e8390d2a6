// entry: gemm
// grid: (-(-N // 32), M)
// block: 32
// about: Each lane cuts its sum at another place: both loops end at different times in the lanes of a warp.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x, cut = threadIdx.x * 7 % (K + 1);
    if (col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < cut; ++k) acc += A[row * K + k] * B[k * N + col];
    for (int k = cut; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
}
