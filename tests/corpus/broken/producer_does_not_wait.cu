// entry: noempty
// grid: (-(-N // 32), -(-M // 4))
// block: 64
// shapes: (6, 37, 40)
// defect: // BUG
// kinds: barrier-divergence, race, wrong-values
// about: The producer fills the buffer again without asking whether it is empty.

__global__ void noempty(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[4][16], Bs[16][32];
    int lane = threadIdx.x & 31, col = blockIdx.x * 32 + lane;
    if (threadIdx.x < 32) {
        for (int k0 = 0; k0 < K; k0 += 16) {  // BUG
            for (int i = lane; i < 64; i += 32) {
                int m = blockIdx.y * 4 + i / 16, k = k0 + i % 16;
                As[i / 16][i % 16] = m < M && k < K ? A[m * K + k] : 0.f;  // BUG: shows
            }
            for (int k = 0; k < 16; ++k) Bs[k][lane] = k0 + k < K && col < N ? B[(k0 + k) * N + col] : 0.f;  // BUG: shows
            asm volatile("bar.arrive 1, 64;" ::: "memory");  // BUG: shows
        }
    } else {
        float acc[4] = {0.f, 0.f, 0.f, 0.f};
        for (int k0 = 0; k0 < K; k0 += 16) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            for (int k = 0; k < 16; ++k)
                for (int i = 0; i < 4; ++i) acc[i] += As[i][k] * Bs[k][lane];  // BUG: shows
        }
        for (int i = 0; i < 4; ++i) {
            int m = blockIdx.y * 4 + i;
            if (m < M && col < N) C[m * N + col] = beta == 0.f ? alpha * acc[i] : alpha * acc[i] + beta * C[m * N + col];
        }
    }
}
