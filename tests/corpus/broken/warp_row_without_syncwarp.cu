// entry: nosyncwarp
// grid: (-(-N // 32), M)
// block: 32
// shapes: (2, 40, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: A warp reads the row that its lanes have stored, without a __syncwarp.

__global__ void nosyncwarp(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[32];
    int lane = threadIdx.x, j = blockIdx.x * 32 + lane, i = blockIdx.y;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[lane] = k0 + lane < K ? A[i * K + k0 + lane] : 0;  // BUG: missing
        for (int k = 0; k < 32; ++k) s += a[k] * (k0 + k < K && j < N ? B[(k0 + k) * N + j] : 0);  // BUG: shows
        __syncwarp();
    }
    if (j < N) C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
