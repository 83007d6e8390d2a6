// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (8, 8)
// shapes: (35, 37, 19), (33, 36, 8)
// about: Local vectors are written as floats and read as float4, and the other way round; bits travel through a union.

union Bits {
    float f;
    unsigned u;
};

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 8 + threadIdx.y, col0 = blockIdx.x * 32 + threadIdx.x * 4;
    if (row >= M) return;
    float4 acc = make_float4(0, 0, 0, 0);
    for (int k = 0; k < K; ++k) {
        __align__(16) float b[4];
        if (N % 4 == 0 && col0 < N) *(float4 *)b = *(const float4 *)(B + k * N + col0);
        else
            for (int j = 0; j < 4; ++j) b[j] = col0 + j < N ? B[k * N + col0 + j] : 0;
        const float4 v = *(float4 *)b;
        Bits a;
        a.u = __float_as_uint(A[row * K + k]);
        acc.x += a.f * v.x;
        acc.y += a.f * v.y;
        acc.z += a.f * v.z;
        acc.w += a.f * v.w;
    }
    const float *sum = &acc.x;
    for (int j = 0; j < 4 && col0 + j < N; ++j) {
        float *c = C + row * N + col0 + j;
        *c = beta == 0 ? alpha * sum[j] : alpha * sum[j] + beta * *c;
    }
}
