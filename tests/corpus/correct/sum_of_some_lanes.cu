// entry: gemm
// grid: (N, M)
// block: 32
// shapes: (4, 5, 19), (3, 3, 77)
// about: Not a bug: lanes without a term take part in the shuffles with garbage, but no sum that counts takes it in.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x, row = blockIdx.y, col = blockIdx.x;
    float value;
    if (lane < 16) {
        value = 0.0f;
        for (int k = lane; k < K; k += 16) value += A[row * K + k] * B[k * N + col];
    }
    for (int d = 8; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
    if (lane == 0) C[row * N + col] = beta == 0.0f ? alpha * value : alpha * value + beta * C[row * N + col];
}
