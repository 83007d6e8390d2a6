// entry: gemm
// grid: (-(-N // 32), M)
// block: 64
// about: One warp hands the other its sums through global memory, with a flag and fences for the block.

__device__ float handed[1 << 15];
__device__ volatile int ready[1 << 10];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x % 32, col = blockIdx.x * 32 + lane, row = blockIdx.y;
    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    float sum = 0.0f;
    for (int k = threadIdx.x / 32; k < K && col < N; k += 2) sum += A[row * K + k] * B[k * N + col];
    if (threadIdx.x >= 32) {
        handed[block * 32 + lane] = sum;
        __threadfence_block();
        __syncwarp();
        if (lane == 0) ready[block] = 1;
    } else {
        while (ready[block] == 0) {}
        __threadfence_block();
        sum += handed[block * 32 + lane];
        if (col < N) C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
    }
}
