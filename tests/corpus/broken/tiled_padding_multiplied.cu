// entry: onefar
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The loop takes the padding for a part of the tile.

__global__ void onefar(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float Bs[17][16], As[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k <= 16; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
