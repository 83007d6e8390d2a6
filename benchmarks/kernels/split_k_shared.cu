// entry: gemm
// grid: (-(-N // 16), M)
// block: (16, 6)
// about: Six threads share an element and add their parts, whole numbers, to a sum in shared memory by atomicAdd.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ int sums[16];
    const int row = blockIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (threadIdx.y == 0) sums[threadIdx.x] = 0;
    __syncthreads();
    int acc = 0;
    if (col < N)
        for (int k = threadIdx.y; k < K; k += 6) acc += (int)A[row * K + k] * (int)B[k * N + col];
    atomicAdd(&sums[threadIdx.x], acc);
    __syncthreads();
    if (threadIdx.y > 0 || col >= N) return;
    const float sum = alpha * sums[threadIdx.x];
    C[row * N + col] = beta == 0.0f ? sum : sum + beta * C[row * N + col];
}
