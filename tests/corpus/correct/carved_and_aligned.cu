// entry: carve
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shared_bytes: 2 * 1024 + 127
// about: Dynamic shared memory is aligned by hand, through an integer.

__global__ void carve(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    extern __shared__ unsigned char raw[];
    char *p = (char *)(((size_t)raw + 127) & ~(size_t)127);
    float (*As)[16] = reinterpret_cast<float (*)[16]>(p);
    float (*Bs)[16] = reinterpret_cast<float (*)[16]>(p + 16 * 16 * sizeof(float));
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
