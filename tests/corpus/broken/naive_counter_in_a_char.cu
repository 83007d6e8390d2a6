// entry: chary
// grid: (-(-N // 32), M)
// block: 32
// shapes: (2, 3, 200)
// defect: // BUG
// kinds: out-of-bounds, endless-loop, wrong-values
// about: The counter is a signed char: -128 comes after 127.

__global__ void chary(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y;
    if (j >= N) return;
    float s = 0;
    for (signed char k = 0; k < K; ++k)  // BUG
        s += A[i * K + k] * B[k * N + j];  // BUG: shows
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
