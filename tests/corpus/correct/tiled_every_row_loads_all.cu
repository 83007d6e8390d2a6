// entry: dupload
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Not a bug: every row of threads stores the whole tile, all of them the same values.

__global__ void dupload(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16 * 8], Bs[8 * 16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int i = threadIdx.x; i < 128; i += blockDim.x) {
            int r = i / 8, c = i % 8;
            As[i] = blockIdx.y * 16 + r < M && k0 + c < K ? A[(blockIdx.y * 16 + r) * K + k0 + c] : 0;
            r = i / 16, c = i % 16;
            Bs[i] = blockIdx.x * 16 + c < N && k0 + r < K ? B[(k0 + r) * N + blockIdx.x * 16 + c] : 0;
        }
        __syncthreads();
        for (int k = 0; k < 8; ++k) acc += As[ty * 8 + k] * Bs[k * 16 + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
