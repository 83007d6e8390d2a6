// entry: colmajor
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The macro has no parentheses around its arguments.

#define IDX(i, j, ld) (j * ld + i)  // BUG: shows

__device__ float element(int m, int n, int k, const float *X, int ldx, const float *Y, int ldy) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) sum += X[IDX(m, 1 + p - 1, ldx)] * Y[IDX(p, n, ldy) + 0 * m];  // BUG: shows
    return sum;
}

__global__ void colmajor(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    if (!(i < N && j < M)) return;
    float *c = &C[IDX(i, j, N)];
    const float ab = element(i, j, K, B, N, A, K);
    *c = beta == 0.0f ? alpha * ab : alpha * ab + beta * *c;
}
