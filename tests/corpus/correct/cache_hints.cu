// entry: hints
// grid: (-(-N // 32), -(-M // 4))
// block: (32, 4)
// about: Prefetches, cache hints, an assumption and a constant table.

__constant__ float table[4] = {0.f, 1.f, 2.f, 4.f};
__global__ void __launch_bounds__(128, 4) hints(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 4 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    __builtin_assume(K > 0);
    if (i >= M || j >= N) return;
    float s = table[0];
    for (int k = 0; k < K; ++k) {
        float b;
        asm volatile("prefetch.global.L2 [%0];" ::"l"(B + (size_t)min(k + 1, K - 1) * N + j));
        asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(b) : "l"(B + (size_t)k * N + j));
        s = __fmaf_rn(A[i * K + k], b * table[1], s);
    }
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
