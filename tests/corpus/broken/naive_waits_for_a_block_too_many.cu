// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (1, 1, 1), (33, 20, 9)
// defect: // BUG
// kinds: endless-loop
// about: All blocks wait until one more block has arrived than there are.

__device__ unsigned int arrived = 0;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned int *)&arrived <= gridDim.x * gridDim.y) {  // BUG
        }  // BUG: shows
    }
    __syncthreads();
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
