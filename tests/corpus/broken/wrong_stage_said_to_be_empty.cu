// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: 96
// shapes: (11, 37, 70)
// defect: // BUG
// kinds: race, barrier-divergence, wrong-values
// about: The wrong buffer is said to be empty.

__device__ __forceinline__ void sync(int id) { asm volatile("bar.sync %0, 96;" ::"r"(id) : "memory"); }
__device__ __forceinline__ void arrive(int id) { asm volatile("bar.arrive %0, 96;" ::"r"(id) : "memory"); }  // BUG: shows
enum { FULL = 1, EMPTY = 3 };

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][8][16], Bs[2][16][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = blockIdx.x * 32 + lane;
    const int tiles = (K + 15) / 16;
    if (warp == 2) {
        for (int t = 0; t < tiles; ++t) {
            const int s = t & 1;
            sync(EMPTY + s);  // BUG: shows
            for (int i = lane; i < 8 * 16; i += 32) {
                const int row = blockIdx.y * 8 + i / 16, k = t * 16 + i % 16;
                As[s][i / 16][i % 16] = row < M && k < K ? A[row * K + k] : 0.0f;  // BUG: shows
            }
            for (int k = 0; k < 16; ++k) Bs[s][k][lane] = t * 16 + k < K && col < N ? B[(t * 16 + k) * N + col] : 0.0f;  // BUG: shows
            arrive(FULL + s);
        }
        return;
    }
    float acc[4] = {};
    arrive(EMPTY);
    arrive(EMPTY + 1);
    for (int t = 0; t < tiles; ++t) {
        const int s = t & 1;
        sync(FULL + s);  // BUG: shows
        for (int k = 0; k < 16; ++k)
            for (int i = 0; i < 4; ++i) acc[i] += As[s][warp * 4 + i][k] * Bs[s][k][lane];  // BUG: shows
        arrive(EMPTY + 1 - s);  // BUG
    }
    for (int i = 0; i < 4; ++i) {
        const int row = blockIdx.y * 8 + warp * 4 + i;
        if (row < M && col < N)
            C[row * N + col] = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * C[row * N + col];
    }
}
