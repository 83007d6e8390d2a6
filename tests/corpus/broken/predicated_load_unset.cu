// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: Where the predicate is false, the result keeps what the register held.

__device__ __forceinline__ float load_or_zero(const float *p, bool in) {
    float v;
    asm("{ .reg .pred q; setp.ne.s32 q, %2, 0; mov.f32 %0, 0f00000000; @q ld.global.f32 %0, [%1]; }"
        : "=f"(v) : "l"(p), "r"((int)in));
    return v;
}

__device__ __forceinline__ void load_if(float &v, const float *p, bool in) {
    asm("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q ld.global.f32 %0, [%1]; }" : "+f"(v) : "l"(p), "r"((int)in));
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[16][16], b[16][16];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        a[y][x] = load_or_zero(A + row * K + k0 + x, row < M && k0 + x < K);
        float v;  // BUG
        load_if(v, B + (k0 + y) * N + col, k0 + y < K && col < N);  // BUG: shows
        b[y][x] = v;  // BUG: shows
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc = fmaf(a[y][k], b[k][x], acc);  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : fmaf(beta, C[row * N + col], alpha * acc);
}
