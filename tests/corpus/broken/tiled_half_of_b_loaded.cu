// entry: halfload
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 8)
// shapes: (35, 37, 19)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The lower half of the tile of B is never loaded.

__global__ void halfload(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, bm = blockIdx.y * 16, n = blockIdx.x * 16 + x;
    float acc0 = 0, acc1 = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[y][x] = bm + y < M && k0 + x < K ? A[(bm + y) * K + k0 + x] : 0;
        As[y + 8][x] = bm + y + 8 < M && k0 + x < K ? A[(bm + y + 8) * K + k0 + x] : 0;
        Bs[y][x] = n < N && k0 + y < K ? B[(k0 + y) * N + n] : 0;  // BUG
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            acc0 += As[y][k] * Bs[k][x];  // BUG: shows
            acc1 += As[y + 8][k] * Bs[k][x];  // BUG: shows
        }
        __syncthreads();
    }
    if (bm + y < M && n < N) C[(bm + y) * N + n] = alpha * acc0 + (beta == 0 ? 0 : beta * C[(bm + y) * N + n]);
    if (bm + y + 8 < M && n < N) C[(bm + y + 8) * N + n] = alpha * acc1 + (beta == 0 ? 0 : beta * C[(bm + y + 8) * N + n]);
}
