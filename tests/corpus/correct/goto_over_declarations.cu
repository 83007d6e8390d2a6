// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Not a bug: goto and switch jump past declarations, and every variable is set before its use.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, k;
    float acc, a, b;
    if (row >= M || col >= N) goto end;
    k = 0;
    acc = 0.0f;
again:
    {
        float product;
        switch (k & 3) {
        case 0: a = A[row * K + k]; b = B[k * N + col]; product = a * b; break;
        case 1: product = A[row * K + k] * B[k * N + col]; break;
        case 2: a = A[row * K + k]; [[fallthrough]];
        case 3: if ((k & 3) == 3) a = A[row * K + k]; product = a; product *= B[k * N + col];
        }
        acc += product;
    }
    if (++k < K) goto again;
    C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
end:;
}
