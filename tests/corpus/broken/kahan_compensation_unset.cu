// entry: kahan
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The compensation begins with no value.

__global__ void kahan(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0.f, c;  // BUG
    for (int k = 0; k < K; ++k) {
        float y = A[i * K + k] * B[k * N + j] - c;  // BUG: shows
        float t = sum + y;
        c = (t - sum) - y;
        sum = t;
    }
    C[i * N + j] = alpha * sum + (beta == 0 ? 0 : beta * C[i * N + j]);  // BUG: shows
}
