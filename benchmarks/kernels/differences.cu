// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Products are subtracted: the assembler fuses such a product, one of two, or one in both of its places.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    const float minus = beta == beta ? -1.0f : 1.0f;  // which the compiler cannot know
    float one = 0.0f, of_two = 0.0f, twice = 0.0f, other = 0.0f;
    int k = 0;
    for (; k + 3 < K; k += 4) {
        const float *a = A + row * K + k, *b = B + k * N + col;
        one = one - a[0] * b[0];
        of_two -= a[1] * b[N] - a[2] * minus * b[2 * N];
        const float p = a[3] * b[3 * N];
        twice = twice - p;
        other = p - other;
    }
    for (; k < K; ++k) one -= A[row * K + k] * B[k * N + col];
    const float acc = -(one + of_two + twice) + 0.0f * other;
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
