// entry: sgemm_naive
// grid: (-(-N // 32), -(-M // 32))
// block: (32, 32)
// about: C linkage, index macros, and the names m, n, k of BLAS.

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define A(i, j) A[(i) * k + (j)]
#define B(i, j) B[(i) * n + (j)]
#define C(i, j) C[(i) * n + (j)]

extern "C" __global__ void sgemm_naive(int m, int n, int k, float alpha, const float *A, const float *B, float beta,
                                       float *C) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (CEIL_DIV(i + 1, m) > 1 || CEIL_DIV(j + 1, n) > 1) return;
    float sum = 0.f;
#pragma unroll 4
    for (int p = 0; p < k; p++) sum += A(i, p) * B(p, j);
    if (beta == 0.f)
        C(i, j) = alpha * sum;
    else
        C(i, j) = alpha * sum + beta * C(i, j);
}
