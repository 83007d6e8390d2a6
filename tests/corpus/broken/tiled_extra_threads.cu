// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: 96
// defect: // BUG
// kinds: out-of-bounds, race, wrong-values
// about: The warp without work stays and stores beyond the tiles.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[8][8], Bs[8][8];
    const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;  // BUG: shows
    const int row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;  // BUG: shows
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;  // BUG: shows
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];  // BUG: shows
}
