// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: endless-loop, wrong-values
// about: k is increased only where the loop does not continue.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float even = 0.0f, odd = 0.0f;
    int k = 0;
    while (true) {  // BUG: shows
        if (row >= M || col >= N) break;  // BUG: shows
        if (k >= K) break;  // BUG: shows
        if (k & 1) {  // BUG
            odd += A[row * K + k] * B[k * N + col];  // BUG: shows
            continue;  // BUG: shows
        }
        even += A[row * K + k] * B[k * N + col];
        ++k;
    }
    if (row >= M || col >= N) return;
    float acc = even + odd;
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
