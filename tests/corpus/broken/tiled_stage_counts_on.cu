// entry: nomod
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (35, 37, 50)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The number of the buffer grows and grows.

__global__ void nomod(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][16][16], Bs[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, s = 0;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16, ++s) {  // BUG
        As[s][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;  // BUG: shows
        Bs[s][ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;  // BUG: shows
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[s][ty][k] * Bs[s][k][tx];  // BUG: shows
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
