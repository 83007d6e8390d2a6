// entry: over4
// grid: (-(-N // 32), -(-M // 8))
// block: (8, 8)
// shapes: (9, 22, 6)
// defect: // BUG
// kinds: out-of-bounds, race, wrong-values
// about: Only the first of four columns is compared with N.

__global__ void over4(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 8 + threadIdx.y, j = (blockIdx.x * 8 + threadIdx.x) * 4;
    if (i >= M || j >= N) return;
    float v[4] = {0, 0, 0, 0};
    for (int k = 0; k < K; ++k)
        for (int e = 0; e < 4; ++e) v[e] += A[i * K + k] * B[k * N + min(j + e, N - 1)];
    for (int e = 0; e < 4; ++e) {
        float old = 0;
        if (beta != 0 && j + e < N) old = C[i * N + j + e];
        C[i * N + j + e] = alpha * v[e] + beta * old;  // BUG
    }
}
