// entry: gemm
// grid: (-(-N // 16), -(-M // 4))
// block: (16, 4, 4)
// defect: // BUG
// kinds: race, wrong-values
// about: A plain addition where four threads add.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sum[4][16];
    const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    if (threadIdx.z == 0) sum[threadIdx.y][threadIdx.x] = 0.0f;
    __syncthreads();
    if (row < M && col < N) {
        float part = 0.0f;
        for (int k = threadIdx.z; k < K; k += 4) part += A[row * K + k] * B[k * N + col];
        sum[threadIdx.y][threadIdx.x] += part;  // BUG
    }
    __syncthreads();
    if (threadIdx.z == 3 && row < M && col < N) {
        const float ab = sum[threadIdx.y][threadIdx.x];
        C[row * N + col] = beta == 0.0f ? alpha * ab : alpha * ab + beta * C[row * N + col];
    }
}
