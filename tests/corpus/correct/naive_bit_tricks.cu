// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: 256
// about: Shifts and masks give the thread's place, a union looks at beta's bits, min and max clamp the row.

union Word {
    float f;
    unsigned u;
};

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned t = threadIdx.x;
    const int row = (blockIdx.y << 4) | (t >> 4);
    const int col = (blockIdx.x << 4) | (t & 15u);
    const int r = max(0, min(row, M - 1)), c = min(col, N - 1);
    Word acc;
    acc.u = 0u;
    for (int k = 0; k < K; ++k) acc.f += A[r * K + k] * B[k * N + c];
    Word b;
    b.f = beta;
    const bool beta_is_zero = (b.u << 1) == 0u;
    if ((row < M) & (col < N)) {
        const int at = row * N + col;
        C[at] = beta_is_zero ? alpha * acc.f : alpha * acc.f + beta * __uint_as_float(__float_as_uint(C[at]));
    }
}
