// entry: gemm
// grid: (-(-N // 16), -(-M // 4))
// block: (16, 4, 4)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: Nobody sets the sums to zero.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sum[4][16];
    const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    // BUG: missing
    __syncthreads();
    if (row < M && col < N) {
        float part = 0.0f;
        for (int k = threadIdx.z; k < K; k += 4) part += A[row * K + k] * B[k * N + col];
        atomicAdd(&sum[threadIdx.y][threadIdx.x], part);  // BUG: shows
    }
    __syncthreads();
    if (threadIdx.z == 3 && row < M && col < N) {
        const float ab = sum[threadIdx.y][threadIdx.x];
        C[row * N + col] = beta == 0.0f ? alpha * ab : alpha * ab + beta * C[row * N + col];
    }
}
