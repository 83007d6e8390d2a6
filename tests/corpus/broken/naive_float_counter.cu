// entry: fidx
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: A counter of floats in steps of 1.1.

__global__ void fidx(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i < M && j < N) {
        float s = 0;
        for (float k = 0; k < K; k += 1.1f) s += A[i * K + (int)k] * B[(int)k * N + j];  // BUG
        C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
    }
}
