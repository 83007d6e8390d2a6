// entry: gemm
// grid: (-(-N // 2), M)
// block: 32
// shapes: (1, 1, 1), (3, 3, 431), (7, 6, 33), (9, 8, 64)
// defect: // BUG
// kinds: barrier-divergence, uninitialized, race, wrong-values
// about: The upper half names the lanes of the lower.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x & 15, upper = threadIdx.x >> 4;
    const int row = blockIdx.y, col = 2 * blockIdx.x + upper;
    float acc = 0.0f;
    if (upper == 0) {
        for (int k = lane; k < K; k += 16) acc += A[row * K + k] * B[k * N + col];
        for (int d = 8; d > 0; d /= 2) acc += __shfl_xor_sync(0x0000ffffu, acc, d, 16);
    } else {
        if (col < N)
            for (int k = lane; k < K; k += 16) acc += A[row * K + k] * B[k * N + col];
        for (int d = 8; d > 0; d /= 2) acc += __shfl_xor_sync(0x0000ffffu, acc, d, 16);  // BUG
    }
    if (lane == 0 && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
