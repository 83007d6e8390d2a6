// entry: halfmask
// grid: (-(-N // 32), M)
// block: 32
// shapes: (2, 40, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: Each half of a warp waits for itself only, and reads what both have stored.

__global__ void halfmask(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[32];
    int lane = threadIdx.x, j = blockIdx.x * 32 + lane, i = blockIdx.y;
    float s = 0;
    unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[lane] = k0 + lane < K ? A[i * K + k0 + lane] : 0;  // BUG: shows
        __syncwarp(half);  // BUG
        for (int k = 0; k < 32; ++k) s += a[k] * (k0 + k < K && j < N ? B[(k0 + k) * N + j] : 0);  // BUG: shows
        __syncwarp();
    }
    if (j < N) C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
