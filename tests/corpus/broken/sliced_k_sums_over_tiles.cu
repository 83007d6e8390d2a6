// entry: reuse
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8, 2)
// shared_bytes: 2 * 2 * 64 * 4
// defect: // BUG
// kinds: race, wrong-values
// about: The partial sums go where others still read their tiles.

__global__ void reuse(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    extern __shared__ float sh[];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float *a = sh + z * 64, *b = sh + 128 + z * 64;
    float acc = 0;
    for (int k0 = z * 8; k0 - z * 8 < K; k0 += 16) {
        if (k0 >= 16) __syncthreads();
        a[y * 8 + x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0;
        b[y * 8 + x] = col < N && k0 + y < K ? B[(k0 + y) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += a[y * 8 + k] * b[k * 8 + x];  // BUG: shows
    }
    sh[z * 64 + y * 8 + x] = acc;  // BUG
    __syncthreads();
    if (z == 0 && row < M && col < N) {
        float s = sh[y * 8 + x] + sh[64 + y * 8 + x];
        C[row * N + col] = alpha * s + (beta == 0 ? 0 : beta * C[row * N + col]);
    }
}
