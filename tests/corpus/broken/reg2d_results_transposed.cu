// entry: resT
// grid: (-(-N // 32), -(-M // 16))
// block: (8, 8)
// defect: // BUG
// kinds: wrong-values
// about: The results are read by columns and were stored by rows.

__global__ void resT(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float r[2 * 4] = {0};
    int i0 = blockIdx.y * 16 + threadIdx.y * 2, j0 = blockIdx.x * 32 + threadIdx.x * 4;
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 4; ++j)
                if (i0 + i < M && j0 + j < N) r[i * 4 + j] += A[(i0 + i) * K + k] * B[k * N + j0 + j];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            if (i0 + i < M && j0 + j < N) C[(i0 + i) * N + j0 + j] = alpha * r[j * 2 + i] + (beta == 0 ? 0 : beta * C[(i0 + i) * N + j0 + j]);  // BUG
}
