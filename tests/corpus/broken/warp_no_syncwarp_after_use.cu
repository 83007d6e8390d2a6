// entry: gemm
// grid: (-(-N // 16), -(-M // 8))
// block: 128
// defect: // BUG
// kinds: race, wrong-values
// about: The next load may overtake a lane that still reads.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[4][4][8], Bs[4][8][8];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, r = lane / 8, c = lane % 8;
    const int row = blockIdx.y * 8 + warp / 2 * 4 + r, col = blockIdx.x * 16 + warp % 2 * 8 + c;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[warp][r][c] = row < M && k0 + c < K ? A[row * K + k0 + c] : 0.0f;  // BUG: shows
        Bs[warp][r][c] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.0f;  // BUG: shows
        Bs[warp][r + 4][c] = k0 + r + 4 < K && col < N ? B[(k0 + r + 4) * N + col] : 0.0f;  // BUG: shows
        __syncwarp();
        for (int k = 0; k < 8; ++k) acc += As[warp][r][k] * Bs[warp][k][c];  // BUG: missing
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
