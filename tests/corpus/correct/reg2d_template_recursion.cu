// entry: gemm
// grid: (-(-N // 16), -(-M // 32))
// block: (16, 8)
// about: Loops over registers are unrolled by recursive templates and if constexpr; a table of offsets is constexpr.

template <int I>
struct Rows {
    template <typename F>
    static __device__ __forceinline__ void each(F f) {
        Rows<I - 1>::each(f);
        f(I - 1);
    }
};

template <>
struct Rows<0> {
    template <typename F>
    static __device__ __forceinline__ void each(F) {}
};

template <int N>
__device__ __forceinline__ constexpr int log2_of() {
    if constexpr (N == 1)
        return 0;
    else
        return 1 + log2_of<N / 2>();
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int TM = 4, T = 16, SHIFT = log2_of<TM>();
    constexpr int offset[TM] = {0, 8, 16, 24};
    __shared__ float As[TM * 8][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * (8 << SHIFT), col = blockIdx.x * T + tx;
    float acc[TM];
    Rows<TM>::each([&](int i) { acc[i] = 0.0f; });
    for (int k0 = 0; k0 < K; k0 += T) {
        Rows<TM>::each([&](int i) {
            const int r = offset[i] + ty;
            As[r][tx] = row0 + r < M && k0 + tx < K ? A[(row0 + r) * K + k0 + tx] : 0.0f;
        });
        for (int r = ty; r < T; r += 8) Bs[r][tx] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) Rows<TM>::each([&](int i) { acc[i] += As[offset[i] + ty][k] * Bs[k][tx]; });
        __syncthreads();
    }
    Rows<TM>::each([&](int i) {
        const int row = row0 + offset[i] + ty;
        if (row < M && col < N)
            C[row * N + col] = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * C[row * N + col];
    });
}
