// entry: square
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// defect: // BUG
// kinds: wrong-values
// about: The row is counted in blocks as high as they are wide.

__global__ void square(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.x + threadIdx.y;  // BUG
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float acc = 0;
        for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
    }
}
