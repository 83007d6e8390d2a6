// entry: tiny
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8)
// defect: // BUG
// kinds: race, wrong-values, out-of-bounds, uninitialized
// about: The block has two warps now, and __syncwarp orders only one.

__global__ void tiny(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float strip_a[8][8], strip_b[8][8];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        strip_a[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0;
        for (int k = y; k < 8; k += 8) strip_b[k][x] = k0 + k < K && col < N ? B[(k0 + k) * N + col] : 0;  // BUG: shows
        __syncwarp();  // BUG: shows
        for (int k = 0; k < 8; ++k) sum += strip_a[y][k] * strip_b[k][x];  // BUG: shows
        __syncwarp();  // BUG: shows
    }
    if (row >= M || col >= N) return;
    if (beta == 0) { C[row * N + col] = alpha * sum; return; }
    C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
