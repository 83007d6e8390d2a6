// entry: k
// grid: (-(-N // 32), -(-M // 32))
// block: 192
// defect: // BUG
// kinds: barrier-divergence
// about: Some come to a named barrier as one of 128 threads, others as one of 192.

#define BM 32
#define BN 32
#define BK 8
__device__ __forceinline__ void bar_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }  // BUG
__device__ __forceinline__ void bar_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }
enum { FULL = 1, EMPTY = 3 };
__global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ float As[2][BK][BM], Bs[2][BK][BN];
    const int tiles = (K + BK - 1) / BK;
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    if (threadIdx.x < 64) {
        const int p = threadIdx.x;
        for (int t = 0; t < tiles; t++) {
            const int s = t & 1;
            if (t >= 2) bar_sync(EMPTY + s, 192);
            for (int i = p; i < BM * BK; i += 64) {
                int m = i / BK, kk = i % BK;
                As[s][kk][m] = (m0 + m < M && t * BK + kk < K) ? A[(m0 + m) * K + t * BK + kk] : 0.f;
                int n = i % BN;
                kk = i / BN;
                Bs[s][kk][n] = (n0 + n < N && t * BK + kk < K) ? B[(t * BK + kk) * N + n0 + n] : 0.f;
            }
            __threadfence_block();
            bar_arrive(FULL + s, 128);  // BUG
        }
    } else {
        const int q = threadIdx.x - 64;
        const int tx = q % 16, ty = q / 16;
        float acc[4][2] = {};
        for (int t = 0; t < tiles; t++) {
            const int s = t & 1;
            bar_sync(FULL + s, 192);
            for (int kk = 0; kk < BK; kk++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 2; j++)
                        acc[i][j] += As[s][kk][ty * 4 + i] * Bs[s][kk][tx + 16 * j];
            if (t + 2 < tiles) bar_arrive(EMPTY + s, 192);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 2; j++) {
                int r = m0 + ty * 4 + i, c = n0 + tx + 16 * j;
                if (r < M && c < N)
                    C[r * N + c] = beta == 0.f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * C[r * N + c];
            }
    }
}
