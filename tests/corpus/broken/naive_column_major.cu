// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: All three matrices are taken to be stored by columns, as in Fortran.

#define IDX2C(i, j, ld) (((j) * (ld)) + (i))

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[IDX2C(i, k, M)] * B[IDX2C(k, j, K)];  // BUG
    C[IDX2C(i, j, M)] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[IDX2C(i, j, M)];
}
