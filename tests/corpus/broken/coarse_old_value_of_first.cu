// entry: wrongc
// grid: (-(-N // 32), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: The old value of the second column is the new one of the first.

__global__ void wrongc(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (i >= M) return;
    for (int h = 0; h < 2; ++h) {
        int jj = j + 16 * h;
        if (jj >= N) break;
        float s = 0;
        for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + jj];
        C[i * N + jj] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);  // BUG
    }
}
