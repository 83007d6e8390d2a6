// entry: folded<8>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: A fold expression over a sequence of integers unrolls the sum.

template <int... I> struct Sequence {};
template <int N, int... I> struct Make : Make<N - 1, N - 1, I...> {};
template <int... I> struct Make<0, I...> { using type = Sequence<I...>; };

template <int K_, int... I>
__device__ __forceinline__ float dot_unrolled(const float *a, const float *b, int ldb, Sequence<I...>) {
    return ((a[I] * b[I * ldb]) + ...);
}
template <int U>
__global__ void folded(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    int k = 0;
    for (; k + U <= K; k += U) s += dot_unrolled<U>(A + i * K + k, B + k * N + j, N, typename Make<U>::type());
    for (; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
