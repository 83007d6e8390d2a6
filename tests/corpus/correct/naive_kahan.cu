// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Compensated summation, with the intrinsics that forbid contraction.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f, lost = 0.0f;
    for (int k = 0; k < K; ++k) {
        float term = __fsub_rn(__fmul_rn(A[row * K + k], B[k * N + col]), lost);
        float next = __fadd_rn(sum, term);
        lost = __fsub_rn(__fsub_rn(next, sum), term);
        sum = next;
    }
    C[row * N + col] = beta == 0.0f ? alpha * sum : __fmaf_rn(beta, C[row * N + col], alpha * sum);
}
