// entry: shared_atomic
// grid: (-(-N // 4), -(-M // 4))
// block: 96
// shapes: (5, 6, 50)
// about: 96 threads add their parts of sixteen sums with atomics in shared memory.

__global__ void shared_atomic(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sum[4][4];
    if (threadIdx.x < 16) sum[threadIdx.x / 4][threadIdx.x % 4] = 0.f;
    __syncthreads();
    float p[4][4] = {{0}};
    for (int k = threadIdx.x; k < K; k += blockDim.x)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                int r = blockIdx.y * 4 + i, c = blockIdx.x * 4 + j;
                if (r < M && c < N) p[i][j] += A[r * K + k] * B[k * N + c];
            }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) atomicAdd(&sum[i][j], p[i][j]);
    __syncthreads();
    if (threadIdx.x < 16) {
        int i = threadIdx.x / 4, j = threadIdx.x % 4;
        int r = blockIdx.y * 4 + i, c = blockIdx.x * 4 + j;
        if (r < M && c < N) C[r * N + c] = alpha * sum[i][j] + (beta == 0.f ? 0.f : beta * C[r * N + c]);
    }
}
