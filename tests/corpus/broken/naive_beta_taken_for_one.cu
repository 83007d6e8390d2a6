// entry: betaone
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (9, 9, 9)
// defect: // BUG
// kinds: wrong-values
// about: Any beta but 0 is taken for 1.

__global__ void betaone(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    if (beta) C[i * N + j] += alpha * s;  // BUG
    else C[i * N + j] = alpha * s;
}
