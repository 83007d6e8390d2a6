// entry: backwards
// grid: (-(-N // 32), M)
// block: 32
// about: Pointers walk backwards from one past the end.

__global__ void backwards(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y;
    if (j >= N) return;
    const float *a = A + (i + 1) * K, *b = B + (size_t)K * N + j;
    float s = 0;
    for (unsigned k = K; k-- > 0;) { b -= N; s += *--a * *b; }
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
