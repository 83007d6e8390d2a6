// entry: swapptr
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (35, 37, 50)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: After the swap both pointers lead to one buffer.

__global__ void swapptr(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float buf[4][256];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float *a0 = buf[0], *a1 = buf[1], *b0 = buf[2], *b1 = buf[3];
    a0[t] = row < M && tx < K ? A[row * K + tx] : 0;
    b0[t] = col < N && ty < K ? B[ty * N + col] : 0;
    __syncthreads();
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        if (k0 + 16 < K) {
            a1[t] = row < M && k0 + 16 + tx < K ? A[row * K + k0 + 16 + tx] : 0;
            b1[t] = col < N && k0 + 16 + ty < K ? B[(k0 + 16 + ty) * N + col] : 0;  // BUG: shows
        }
        for (int k = 0; k < 16; ++k) acc += a0[ty * 16 + k] * b0[k * 16 + tx];  // BUG: shows
        __syncthreads();
        float *tmp = a0; a0 = a1; a1 = tmp;
        tmp = b0; b0 = b1; b1 = b0;  // BUG
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
