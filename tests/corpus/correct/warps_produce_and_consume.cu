// entry: specialised
// grid: (-(-N // 32), -(-M // 4))
// block: 64
// shapes: (6, 37, 40)
// about: One warp fills the buffer and one uses it; they tell each other by bar.arrive.

#define BAR_SYNC(id) asm volatile("bar.sync " #id ", 64;" ::: "memory")
#define BAR_ARRIVE(id) asm volatile("bar.arrive " #id ", 64;" ::: "memory")
__global__ void specialised(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // warp 0 fills the buffer, warp 1 computes: barrier 1 says full, barrier 2 says empty
    __shared__ float As[4][16], Bs[16][32];
    int lane = threadIdx.x & 31;
    int col = blockIdx.x * 32 + lane;
    if (threadIdx.x < 32) {
        for (int k0 = 0; k0 < K; k0 += 16) {
            if (k0 > 0) BAR_SYNC(2);
            for (int i = lane; i < 64; i += 32) {
                int m = blockIdx.y * 4 + i / 16, k = k0 + i % 16;
                As[i / 16][i % 16] = m < M && k < K ? A[m * K + k] : 0.f;
            }
            for (int k = 0; k < 16; ++k) Bs[k][lane] = k0 + k < K && col < N ? B[(k0 + k) * N + col] : 0.f;
            BAR_ARRIVE(1);
        }
    } else {
        float acc[4] = {0.f, 0.f, 0.f, 0.f};
        for (int k0 = 0; k0 < K; k0 += 16) {
            BAR_SYNC(1);
            for (int k = 0; k < 16; ++k)
                for (int i = 0; i < 4; ++i) acc[i] += As[i][k] * Bs[k][lane];
            if (k0 + 16 < K) BAR_ARRIVE(2);
        }
        for (int i = 0; i < 4; ++i) {
            int m = blockIdx.y * 4 + i;
            if (m < M && col < N) C[m * N + col] = beta == 0.f ? alpha * acc[i] : alpha * acc[i] + beta * C[m * N + col];
        }
    }
}
