// entry: dot_per_warp
// grid: (-(-N // 4), M)
// block: (32, 4)
// defect: // BUG
// kinds: barrier-divergence, wrong-values
// about: Lanes without a word of A leave before the shuffle.

__global__ void dot_per_warp(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned ALL = 0xffffffffu;
    const int lane = threadIdx.x, col = blockIdx.x * 4 + threadIdx.y, row = blockIdx.y;
    if (col >= N) return;                  // a whole warp, or none of it
    if (lane >= K) return;  // BUG
    float sum = 0.0f;
    for (int k = lane; k < K; k += warpSize) sum = fmaf(A[row * K + k], B[k * N + col], sum);
    for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);  // BUG: shows
    if (lane == 0) {
        const int at = row * N + col;
        C[at] = beta == 0.0f ? alpha * sum : fmaf(alpha, sum, beta * C[at]);
    }
}
