// entry: gemm
// grid: (N, -(-M // 3))
// block: (32, 3)
// about: A warp computes one element: its lanes walk along K and down a column of B, and a butterfly adds them up.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x, row = blockIdx.y * 3 + threadIdx.y, col = blockIdx.x;
    if (row >= M) return;
    float acc = 0.0f;
    for (int k = lane; k < K; k += 32) acc += A[row * K + k] * B[k * N + col];
    for (int distance = 16; distance > 0; distance /= 2) acc += __shfl_xor_sync(0xffffffff, acc, distance);
    if (lane == 0) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
