// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8, 4)
// defect: // BUG
// kinds: race, wrong-values
// about: The sum is read before all layers have added.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sums[8][8];
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (threadIdx.z == 0) sums[threadIdx.y][threadIdx.x] = 0.0f;
    __syncthreads();
    if (row < M && col < N) {
        float acc = 0.0f;
        for (int k = threadIdx.z; k < K; k += 4) acc += A[row * K + k] * B[k * N + col];
        atomicAdd(&sums[threadIdx.y][threadIdx.x], acc);  // BUG: missing
    }
    if (threadIdx.z == 0 && row < M && col < N) {
        const float sum = sums[threadIdx.y][threadIdx.x];  // BUG: shows
        C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
    }
}
