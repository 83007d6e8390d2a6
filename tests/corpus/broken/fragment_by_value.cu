// entry: byvalue
// grid: (-(-N // 32), -(-M // 8))
// block: (16, 8)
// defect: // BUG
// kinds: wrong-values
// about: A struct is passed by value, so the sums are lost.

struct Frag { float x[2]; };
__device__ __noinline__ void accumulate(Frag f, float a, float b0, float b1) { f.x[0] += a * b0; f.x[1] += a * b1; }  // BUG
__global__ void byvalue(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (i >= M) return;
    Frag f = {{0.f, 0.f}};
    for (int k = 0; k < K; ++k) accumulate(f, A[i * K + k], j < N ? B[k * N + j] : 0.f, j + 16 < N ? B[k * N + j + 16] : 0.f);
    for (int e = 0; e < 2; ++e)
        if (j + 16 * e < N) C[i * N + j + 16 * e] = alpha * f.x[e] + (beta == 0 ? 0 : beta * C[i * N + j + 16 * e]);
}
