__global__ void banks(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // A block of 256 threads, 16 x 16, computes 64 x 128 elements; a thread has 4 rows and 8 columns.
    constexpr int BM = 64, BN = 128, BK = 8;
    __shared__ __align__(16) float As[BK][BM];  // transposed
    __shared__ __align__(16) float Bs[BK][BN];
    const int t = threadIdx.x, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int top = t / 16 * 4, left = t % 16 * 8;  // the thread's first row and column in the block
    float acc[4][8] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = t; i < BM * BK; i += 256) {
            const int r = row0 + i / BK, k = k0 + i % BK;
            As[i % BK][i / BK] = r < M && k < K ? A[(size_t)r * K + k] : 0.0f;
        }
        for (int i = t; i < BK * BN; i += 256) {
            const int k = k0 + i / BN, c = col0 + i % BN;
            Bs[i / BN][i % BN] = k < K && c < N ? B[(size_t)k * N + c] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            const float4 a = *(const float4 *)&As[k][top];
            const float4 b = *(const float4 *)&Bs[k][left];
            const float4 d = *(const float4 *)&Bs[k][left + 4];
            const float x[4] = {a.x, a.y, a.z, a.w}, y[8] = {b.x, b.y, b.z, b.w, d.x, d.y, d.z, d.w};
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 8; ++j)
                    acc[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) {
            const int r = row0 + top + i, c = col0 + left + j;
            if (r < M && c < N) {
                float *to = C + (size_t)r * N + c;
                *to = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *to;
            }
        }
}
