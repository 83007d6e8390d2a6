// entry: epis
// grid: (-(-N // 16), -(-M // 16))
// block: (8, 24)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The tile of C does not fit into that of A, and the tile of B need not come after it.

__global__ void epis(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // 192 threads for 256 elements; the tile of C is transposed in shared memory on its way out
    __shared__ float As[16][16], Bs[16][16];
    float (*Cs)[17] = reinterpret_cast<float (*)[17]>(&As[0][0]);   // 16 x 17 floats in the 512 of both tiles
    static_assert(sizeof(As) >= 4, "");
    int t = threadIdx.y * blockDim.x + threadIdx.x, n = blockDim.x * blockDim.y;
    float acc[2] = {0, 0};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int e = t; e < 256; e += n) {
            int r = e / 16, c = e % 16, gr = blockIdx.y * 16 + r, gc = blockIdx.x * 16 + c;
            As[r][c] = gr < M && k0 + c < K ? A[gr * K + k0 + c] : 0;
            Bs[r][c] = gc < N && k0 + r < K ? B[(k0 + r) * N + gc] : 0;
        }
        __syncthreads();
        int q = 0;
        for (int e = t; e < 256; e += n, ++q)
            for (int k = 0; k < 16; ++k) acc[q] += As[e % 16][k] * Bs[k][e / 16];
        __syncthreads();
    }
    for (int e = t, q = 0; e < 240; e += n, ++q) Cs[e % 16][e / 16] = acc[q];  // BUG
    __syncthreads();
    for (int e = t; e < 256; e += n) {
        int r = e / 16, c = e % 16, gr = blockIdx.y * 16 + r, gc = blockIdx.x * 16 + c;
        if (c < 15 && gr < M && gc < N) C[gr * N + gc] = alpha * Cs[r][c] + (beta == 0 ? 0 : beta * C[gr * N + gc]);
    }
    for (int e = t, q = 0; e < 256; e += n, ++q) {
        int gr = blockIdx.y * 16 + e % 16, gc = blockIdx.x * 16 + 15;
        if (e >= 240 && gr < M && gc < N) C[gr * N + gc] = alpha * acc[q] + (beta == 0 ? 0 : beta * C[gr * N + gc]);
    }
}
