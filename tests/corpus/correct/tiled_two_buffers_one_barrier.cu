// entry: flip
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (35, 37, 50)
// about: With two buffers one barrier for each tile is enough.

__global__ void flip(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // two buffers need one barrier per tile: nobody stores into a buffer before all have passed the barrier after its last use
    __shared__ float As[2][16][16], Bs[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, p = 0;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[p][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        Bs[p][ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[p][ty][k] * Bs[p][k][tx];
        p = 1 - p;
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
