// entry: shfl_gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// defect: // BUG
// kinds: barrier-divergence, wrong-values
// about: The shuffle stands inside the guard of the columns.

__global__ void shfl_gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * 32 + lane;
    if (row >= M) return;
    float result = 0;
    for (int base = 0; base < K; base += 32) {
        const float mine = base + lane < K ? A[row * K + base + lane] : 0;
        const int width = min(32, K - base);
        for (int k = 0; k < width; ++k) {
            if (col < N) result += __shfl_sync(0xffffffff, mine, k) * B[(base + k) * N + col];  // BUG: shows
        }
    }
    if (col < N) {
        float &c = C[row * N + col];
        c = beta == 0 ? alpha * result : alpha * result + beta * c;
    }
}
