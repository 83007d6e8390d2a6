// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: 32
// about: Loops over local arrays by pointers, up to the one that points behind the last element.

__device__ void clear(float *p, const float *end) {
    while (p != end) *p++ = 0.0f;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float acc[8], a[8];
    const int col = blockIdx.x * 32 + threadIdx.x, row0 = blockIdx.y * 8;
    if (col >= N) return;
    clear(acc, acc + 8);
    clear(a, a + 8);
    const int rows = min(8, M - row0);
    float *const end = acc + rows;
    for (int k = 0; k < K; ++k) {
        for (float *p = a + rows; p-- > a;) *p = A[(row0 + (p - a)) * K + k];
        const float *q = a;
        for (float *p = acc; p != end; ++p, ++q) *p += *q * B[k * N + col];
    }
    float *c = C + row0 * N + col;
    for (const float *p = acc; p < end; ++p, c += N) *c = beta == 0.0f ? alpha * *p : alpha * *p + beta * *c;
}
