// entry: gemm
// grid: (-(-N // 7), -(-M // 5))
// block: (7, 5, 3)
// about: 105 threads, so the last warp is not full; threadIdx.z splits K, and the parts meet in shared memory.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float parts[3][5][7];
    const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    const int row = blockIdx.y * 5 + ty, col = blockIdx.x * 7 + tx;
    float acc = 0.0f;
    if (row < M && col < N)
        for (int k = tz; k < K; k += 3) acc += A[row * K + k] * B[k * N + col];
    parts[tz][ty][tx] = acc;
    __syncthreads();
    if (tz > 0 || row >= M || col >= N) return;
    const float sum = alpha * (parts[0][ty][tx] + parts[1][ty][tx] + parts[2][ty][tx]);
    C[row * N + col] = beta == 0.0f ? sum : sum + beta * C[row * N + col];
}
