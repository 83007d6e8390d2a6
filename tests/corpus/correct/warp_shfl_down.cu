// entry: gemm
// grid: (-(-N // 4), M)
// block: (32, 4)
// shapes: (1, 1, 1), (3, 3, 431), (7, 6, 33), (20, 17, 64)
// about: A warp computes one element; its lanes split K and add up by __shfl_down_sync.

__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x, row = blockIdx.y, col = blockIdx.x * blockDim.y + threadIdx.y;
    if (col >= N) return;  // a whole warp
    float acc = 0.0f;
    for (int k = lane; k < K; k += warpSize) acc += A[row * K + k] * B[k * N + col];
    acc = warpReduceSum(acc);
    if (lane == 0) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
