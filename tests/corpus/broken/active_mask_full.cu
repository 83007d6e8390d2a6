// entry: gemm
// grid: (-(-N // 24), M)
// block: 24
// defect: // BUG
// kinds: barrier-divergence
// about: The mask names lanes that have left.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x, col = blockIdx.x * 24 + lane, row = blockIdx.y;
    const unsigned inside = __ballot_sync(0xffffff, col < N);
    if (col >= N) return;
    const int width = __popc(inside);
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += width) {
        const float mine = k0 + lane < K ? A[row * K + k0 + lane] : 0.0f;
        for (int k = 0; k < width && k0 + k < K; ++k) acc += __shfl_sync(0xffffff, mine, k + 1 < width ? k : 23) * B[(k0 + k) * N + col];  // BUG: shows
    }
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
