// entry: exited
// grid: (-(-N // 8), -(-M // 4))
// block: (8, 4)
// shapes: (6, 13, 20)
// defect: // BUG
// kinds: wrong-values, uninitialized, barrier-divergence
// line: none
// about: Lanes that have left were to hand on their words of A; the mask is that of the others.

__global__ void exited(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // a warp is 4 rows of 8 lanes; each row of lanes shares the values of A
    int i = blockIdx.y * 4 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
    if (i >= M || j >= N) return;  // BUG
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        float a = k0 + threadIdx.x < K ? A[i * K + k0 + threadIdx.x] : 0;
        for (int k = 0; k < 8 && k0 + k < K; ++k)
            s += __shfl_sync(__activemask(), a, k, 8) * B[(k0 + k) * N + j];  // BUG: shows
    }
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
