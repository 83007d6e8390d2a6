// entry: skipbar
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: barrier-divergence, race, wrong-values
// about: Threads beyond the edge skip the second barrier.

__global__ void skipbar(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;  // BUG: shows
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;  // BUG: shows
        __syncthreads();  // BUG: shows
        if (row >= M || col >= N) continue;  // BUG
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        __syncthreads();  // BUG: shows
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
