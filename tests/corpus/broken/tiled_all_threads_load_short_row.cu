// entry: short_tile
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds, race, wrong-values
// about: All 16 threads of a row store into a tile with rows of 8.

#define TILE 16
#define STEP 8
__global__ void short_tile(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float Bs[STEP][TILE];
    __shared__ float As[TILE][STEP];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += STEP) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;  // BUG
        if (ty < STEP) Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < STEP; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
