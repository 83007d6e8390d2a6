// entry: butterfly
// grid: (-(-N // 2), M)
// block: 32
// shapes: (3, 7, 40)
// about: Half a warp for each element, with shuffles of width 16.

__global__ void butterfly(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int half = threadIdx.x >> 4, l = threadIdx.x & 15;
    int i = blockIdx.y, j = blockIdx.x * 2 + half;
    float s = 0;
    if (j < N) for (int k = l; k < K; k += 16) s = fmaf(A[i * K + k], B[k * N + j], s);
#pragma unroll
    for (int m = 8; m > 0; m >>= 1) s += __shfl_xor_sync(0xffffffffu, s, m, 16);
    if (j < N && l == 0) {
        float r = __fmul_rn(alpha, s);
        C[i * N + j] = beta == 0 ? r : __fmaf_rn(beta, C[i * N + j], r);
    }
}
