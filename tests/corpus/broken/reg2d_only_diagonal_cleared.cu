// entry: part_init
// grid: (-(-N // 32), -(-M // 32))
// block: (8, 8)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: Only the sums on the diagonal begin at 0.

__global__ void part_init(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float acc[4][4];
    for (int i = 0; i < 4; ++i) acc[i][i] = 0.f;  // BUG
    int r = blockIdx.y * 32 + threadIdx.y * 4, c = blockIdx.x * 32 + threadIdx.x * 4;
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < 4; ++i) {
            float a = r + i < M ? A[(r + i) * K + k] : 0.f;
            for (int j = 0; j < 4; ++j) acc[i][j] += a * (c + j < N ? B[k * N + c + j] : 0.f);  // BUG: shows
        }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (r + i < M && c + j < N) {
                float *p = &C[(r + i) * N + c + j];
                *p = alpha * acc[i][j] + (beta == 0.f ? 0.f : beta * *p);  // BUG: shows
            }
}
