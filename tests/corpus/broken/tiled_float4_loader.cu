// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: (8, 32)
// defect: // BUG
// kinds: misaligned, wrong-values
// about: Loads of four words are guarded against the edges but not against rows that do not begin at a multiple of four.

__device__ float4 load4(const float *X, int r, int c, int rows, int cols) {
    if (r < rows && c + 3 < cols) return *reinterpret_cast<const float4 *>(&X[r * cols + c]);  // BUG
    float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
    if (r < rows && c < cols) v.x = X[r * cols + c];
    if (r < rows && c + 1 < cols) v.y = X[r * cols + c + 1];
    if (r < rows && c + 2 < cols) v.z = X[r * cols + c + 2];
    return v;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float4 As[32][8], Bs[32][8];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx * 4;
    float acc[4] = {0, 0, 0, 0};
    for (int k0 = 0; k0 < K; k0 += 32) {
        As[ty][tx] = load4(A, row, k0 + tx * 4, M, K);  // BUG: shows
        Bs[ty][tx] = load4(B, k0 + ty, col, K, N);      // BUG: shows
        __syncthreads();
        const float *a = reinterpret_cast<const float *>(As[ty]);
        for (int k = 0; k < 32; ++k) {
            const float4 b = Bs[k][tx];
            acc[0] += a[k] * b.x;
            acc[1] += a[k] * b.y;
            acc[2] += a[k] * b.z;
            acc[3] += a[k] * b.w;
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j)
        if (row < M && col + j < N)
            C[row * N + col + j] = beta == 0.0f ? alpha * acc[j] : alpha * acc[j] + beta * C[row * N + col + j];
}
