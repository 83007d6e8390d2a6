// entry: gemm
// grid: (-(-N // 4), M)
// block: (32, 4)
// about: A warp computes an element: each lane takes every 32nd value of k, and shuffles add up.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y, col = blockIdx.x * 4 + threadIdx.y;
    if (col >= N) return;
    float acc = 0.0f;
    for (int k = threadIdx.x; k < K; k += 32) acc += A[row * K + k] * B[k * N + col];
    for (int lanes = 16; lanes > 0; lanes /= 2) acc += __shfl_down_sync(0xffffffff, acc, lanes);
    if (threadIdx.x == 0) C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
}
