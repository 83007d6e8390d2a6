// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (8, 4)
// about: A local array of rows is also seen as a flat one, and its rows as references and as vectors.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __align__(16) float acc[2][4];
    float *flat = &acc[0][0];
    for (int i = 0; i < 8; ++i) flat[i] = 0.0f;
    const int row0 = (blockIdx.y * 4 + threadIdx.y) * 2, col0 = blockIdx.x * 32 + threadIdx.x * 4;
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < 2; ++i) {
            if (row0 + i >= M) break;
            float (&row)[4] = acc[i];
            const float a = A[(row0 + i) * K + k];
            for (int j = 0; j < 4 && col0 + j < N; ++j) row[j] += a * B[k * N + col0 + j];
        }
    for (int i = 0; i < 2; ++i) {
        const float4 sums = reinterpret_cast<float4 *>(flat)[i];
        const float *v = &sums.x;
        for (int j = 0; j < 4; ++j)
            if (row0 + i < M && col0 + j < N) {
                float *c = &C[(row0 + i) * N + col0 + j];
                *c = beta == 0.0f ? alpha * v[j] : alpha * v[j] + beta * *c;
            }
    }
}
