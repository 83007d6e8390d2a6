// entry: past2
// grid: (-(-N // 16), -(-M // 8))
// block: (16, 8)
// shapes: (8, 16, 9)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The second of two words is fetched before it is tested.

__global__ void past2(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; k += 2) {
        float a0 = A[i * K + k], a1 = A[i * K + k + 1];  // BUG
        s += a0 * B[k * N + j];
        if (k + 1 < K) s += a1 * B[(k + 1) * N + j];
    }
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
