// entry: gemm
// grid: (-(-N // 16), -(-M // 8))
// block: (16, 8)
// defect: // BUG
// kinds: misaligned, out-of-bounds, wrong-values
// about: Rows are read as float4 whatever K is.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    if (K > 0) {  // BUG
        const float4 *a = reinterpret_cast<const float4 *>(A + (size_t)row * K);
        for (int q = 0; q < (K + 3) / 4; ++q) {
            const float4 v = a[q];  // BUG: shows
            acc += v.x * B[(4 * q + 0) * N + col];
            acc += v.y * B[(4 * q + 1) * N + col];  // BUG: shows
            acc += v.z * B[(4 * q + 2) * N + col];  // BUG: shows
            acc += v.w * B[(4 * q + 3) * N + col];  // BUG: shows
        }
    } else {
        for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    }
    float *c = C + (size_t)row * N + col;
    *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
}
