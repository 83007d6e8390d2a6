// entry: gemm
// grid: 2
// block: (16, 16)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: One thread chooses the next tile and tells it through shared memory; nobody waits, before or after.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ int tile;
    const int across = (N + 15) / 16, tiles = across * ((M + 15) / 16);
    for (int turn = 0;; ++turn) {
        if (threadIdx.x == 0 && threadIdx.y == 0) tile = turn * gridDim.x + blockIdx.x;  // BUG
        if (tile >= tiles) return;                                                       // BUG: shows
        const int row = tile / across * 16 + threadIdx.y;                                // BUG: shows
        const int col = tile % across * 16 + threadIdx.x;                                // BUG: shows
        if (row >= M || col >= N) continue;
        float acc = 0.0f;
        for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
    }
}
