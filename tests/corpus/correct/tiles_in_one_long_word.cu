// entry: packed
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: A word of A and one of B lie in the two halves of a 64-bit number.

__global__ void packed(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // a word of A and a word of B travel as one 64-bit number
    __shared__ unsigned long long S[16][16];
    union Bits { float f[2]; unsigned long long u; };
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        Bits w;
        w.f[0] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        w.f[1] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        S[ty][tx] = w.u;
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float a = __uint_as_float((unsigned)(S[ty][k] & 0xffffffffull));
            float b = __uint_as_float((unsigned)(S[k][tx] >> 32));
            acc += a * b;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
