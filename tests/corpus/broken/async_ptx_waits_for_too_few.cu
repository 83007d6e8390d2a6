// entry: stages3
// grid: (-(-N // 16), -(-M // 16))
// block: 256
// defect: // BUG
// kinds: uninitialized, race, wrong-values
// about: Two groups are open, and the wait leaves two open.

__device__ __forceinline__ void cpa4(float *s, const float *g) {
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(a), "l"(g) : "memory");  // BUG: shows
}
__global__ void stages3(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[3][256], Bs[3][256];
    const int t = threadIdx.x, r = t >> 4, c = t & 15, row = blockIdx.y * 16 + r, col = blockIdx.x * 16 + c;
    const int tiles = (K + 15) / 16;
#define ISSUE(i) do { int s_ = (i) % 3, k_ = (i) * 16; if ((i) < tiles) { \
        if (row < M && k_ + c < K) cpa4(&As[s_][t], A + row * K + k_ + c); else As[s_][t] = 0; \
        if (col < N && k_ + r < K) cpa4(&Bs[s_][t], B + (k_ + r) * N + col); else Bs[s_][t] = 0; } \
        asm volatile("cp.async.commit_group;" ::: "memory"); } while (0)
    ISSUE(0);
    ISSUE(1);
    float acc = 0;
    for (int i = 0; i < tiles; ++i) {
        asm volatile("cp.async.wait_group 2;" ::: "memory");  // BUG
        __syncthreads();
        ISSUE(i + 2);
        for (int k = 0; k < 16; ++k) acc += As[i % 3][r * 16 + k] * Bs[i % 3][k * 16 + c];  // BUG: shows
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
