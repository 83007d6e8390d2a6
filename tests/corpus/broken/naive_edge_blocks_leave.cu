// entry: blockguard
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: Blocks that lie across an edge leave.

__global__ void blockguard(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    if ((blockIdx.x + 1) * 16 > N || (blockIdx.y + 1) * 16 > M) return;  // BUG
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
