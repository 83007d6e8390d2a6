// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (17, 20, 40), (16, 16, 9)
// about: Not a bug: after the last tile, a word of the other buffer is fetched, perhaps never written, and never used.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][16][16], Bs[2][16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    const int tiles = (K + 15) / 16;
    auto load = [&](int tile) {
        const int k0 = tile * 16;
        As[tile & 1][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[tile & 1][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    };
    load(0);
    __syncthreads();
    float a = As[0][ty][0], b = Bs[0][0][tx], acc = 0.0f;
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) load(tile + 1);
        for (int k = 0; k < 16; ++k) {
            const float a_now = a, b_now = b;
            if (k == 15) {
                __syncthreads();
                a = As[tile + 1 & 1][ty][0];
                b = Bs[tile + 1 & 1][0][tx];
            } else {
                a = As[tile & 1][ty][k + 1];
                b = Bs[tile & 1][k + 1][tx];
            }
            acc += a_now * b_now;
        }
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
