// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// about: A's words lie in shared memory as two arrays of 16 bits, and a byte says whether a row of B exists.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ unsigned short high[8][32], low[8][32];
    __shared__ unsigned char exists[32];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        const unsigned bits = row < M && k0 + tx < K ? __float_as_uint(A[row * K + k0 + tx]) : 0u;
        high[ty][tx] = bits >> 16;
        low[ty][tx] = bits & 0xffff;
        if (ty == 0) exists[tx] = k0 + tx < K;
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            if (exists[k] && col < N)
                acc += __uint_as_float((unsigned)high[ty][k] << 16 | low[ty][k]) * B[(k0 + k) * N + col];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
