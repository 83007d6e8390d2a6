// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: 32
// defect: // BUG
// kinds: race, wrong-values
// about: The kernel computes sixteen rows in a block, the grid has one block for every eight: each row is done twice.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int ROWS = 16;  // BUG
    const int col = blockIdx.x * 32 + threadIdx.x, row0 = blockIdx.y * 8;  // BUG
    if (col >= N) return;
    float acc[ROWS] = {0.0f};
    for (int k = 0; k < K; ++k) {
        const float b = B[k * N + col];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (row0 + r < M) acc[r] += A[(row0 + r) * K + k] * b;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        if (row0 + r < M) {
            float *c = &C[(row0 + r) * N + col];
            *c = beta == 0.0f ? alpha * acc[r] : alpha * acc[r] + beta * *c;  // BUG: shows
        }
}
