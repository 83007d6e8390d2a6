// entry: localsmall<4>
// grid: (-(-N // 32), -(-M // 8))
// block: (8, 8)
// defect: // BUG
// kinds: out-of-bounds, uninitialized, wrong-values
// about: An array for three words takes four.

template <int TN>
__global__ void localsmall(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float acc[TN];
    int i = blockIdx.y * 8 + threadIdx.y, j0 = (blockIdx.x * 8 + threadIdx.x) * TN;
    for (int j = 0; j < TN; j++) acc[j] = 0;
    for (int k = 0; k < K; k++) {
        float b[TN - 1];  // BUG
        for (int j = 0; j < TN; j++) b[j] = j0 + j < N ? B[k * N + j0 + j] : 0;  // BUG: shows
        float a = i < M ? A[i * K + k] : 0;
        for (int j = 0; j < TN; j++) acc[j] += a * b[j];  // BUG: shows
    }
    for (int j = 0; j < TN; j++)
        if (i < M && j0 + j < N) C[i * N + j0 + j] = alpha * acc[j] + (beta == 0 ? 0 : beta * C[i * N + j0 + j]);
}
