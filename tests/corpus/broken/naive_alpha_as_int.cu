// entry: scaleint
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: The parameter that takes alpha is an int.

__device__ float scaled(float v, int scale) { return v * scale; }
__global__ void scaleint(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i < M && j < N) {
        double s = 0;
        for (int k = 0; k < K; ++k) s += (double)A[i * K + k] * B[k * N + j];
        C[i * N + j] = scaled(s, alpha) + (beta == 0 ? 0 : beta * C[i * N + j]);  // BUG
    }
}
