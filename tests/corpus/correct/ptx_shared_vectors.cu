// entry: ptxsh
// grid: (-(-N // 32), -(-M // 8))
// block: 64
// shapes: (9, 36, 10)
// about: Shared memory is written and read by inline PTX, four words at once.

__global__ void ptxsh(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    extern __shared__ char none[];
    __shared__ __align__(16) float Bs[8][32];
    unsigned lane, base = (unsigned)__cvta_generic_to_shared(&Bs[0][0]);
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    int y = threadIdx.x / 8, x = threadIdx.x % 8, i = blockIdx.y * 8 + y, j = blockIdx.x * 32 + x * 4;
    float4 s = make_float4(0, 0, 0, 0);
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int e = threadIdx.x; e < 256; e += 64) {
            int r = e >> 5, c = e & 31;
            float v = k0 + r < K && blockIdx.x * 32 + c < N ? B[(k0 + r) * N + blockIdx.x * 32 + c] : 0.f;
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(base + 4 * e), "f"(v) : "memory");
        }
        __syncthreads();
        for (int k = 0; k < 8 && k0 + k < K; ++k) {
            float4 b;
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(b.x), "=f"(b.y), "=f"(b.z), "=f"(b.w) : "r"(base + k * 128 + x * 16));
            float a = i < M ? __ldcg(&A[i * K + k0 + k]) : 0.f;
            s.x += a * b.x; s.y += a * b.y; s.z += a * b.z; s.w += a * b.w;
        }
        __syncthreads();
    }
    float o[4] = {s.x, s.y, s.z, s.w};
    if (i < M && lane < 32)
        for (int e = 0; e < 4; ++e)
            if (j + e < N) __stcs(&C[i * N + j + e], alpha * o[e] + (beta == 0 ? 0 : beta * __ldcs(&C[i * N + j + e])));
}
