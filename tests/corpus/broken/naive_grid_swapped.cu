// entry: gemm
// grid: (-(-M // 32), -(-N // 8))
// block: (32, 8)
// shapes: (35, 79, 19)
// line: none
// defect: // BUG
// kinds: wrong-values
// about: The grid has rows along x and columns along y.

__global__ void __launch_bounds__(256)
gemm(int M, int N, int K, float alpha, const float *__restrict__ A, const float *__restrict__ B, float beta,
     float *__restrict__ C) {
    const size_t row = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
    const size_t col = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= (size_t)M || col >= (size_t)N) return;
    float acc = 0.f;
    for (size_t k = 0; k < (size_t)K; ++k)
        acc = fmaf(__ldg(A + row * K + k), __ldg(&B[k * N + col]), acc);
    const size_t at = row * N + col;
    C[at] = beta == 0.f ? alpha * acc : fmaf(alpha, acc, beta * C[at]);
}
