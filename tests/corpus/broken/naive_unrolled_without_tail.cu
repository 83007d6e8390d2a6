// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: (32, 4)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: Steps of four, although K may leave a rest.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int k = 0;
    for (; k < K; k += 4) {  // BUG
        s0 += A[row * K + k + 0] * B[(k + 0) * N + col];
        s1 += A[row * K + k + 1] * B[(k + 1) * N + col];  // BUG: shows
        s2 += A[row * K + k + 2] * B[(k + 2) * N + col];  // BUG: shows
        s3 += A[row * K + k + 3] * B[(k + 3) * N + col];  // BUG: shows
    }
    for (; k < K; ++k) s0 += A[row * K + k] * B[k * N + col];
    float acc = (s0 + s1) + (s2 + s3);
    C[row * N + col] = beta == 0 ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
