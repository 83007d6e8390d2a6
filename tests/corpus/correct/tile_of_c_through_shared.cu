// entry: epis
// grid: (-(-N // 16), -(-M // 16))
// block: (8, 24)
// about: 192 threads for 256 elements, whose tile is transposed where the tiles of A and B were.

__global__ void epis(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float both[2][16][16];
    auto &As = both[0], &Bs = both[1];
    float (*Cs)[17] = reinterpret_cast<float (*)[17]>(&both[0][0][0]);
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
    for (int e = t, q = 0; e < 256; e += n, ++q) Cs[e % 16][e / 16] = acc[q];
    __syncthreads();
    for (int e = t; e < 256; e += n) {
        int r = e / 16, c = e % 16, gr = blockIdx.y * 16 + r, gc = blockIdx.x * 16 + c;
        if (gr < M && gc < N) C[gr * N + gc] = alpha * Cs[r][c] + (beta == 0 ? 0 : beta * C[gr * N + gc]);
    }
}
