// entry: dot
// grid: (N, M)
// block: 64
// shapes: (3, 3, 431), (5, 7, 64)
// defect: // BUG
// kinds: race, wrong-values
// about: A block computes one element; its threads add to one shared sum without atomics.

__global__ void dot(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sum;
    const int row = blockIdx.y, col = blockIdx.x;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    float part = 0.0f;
    for (int k = threadIdx.x; k < K; k += blockDim.x) part += A[row * K + k] * B[k * N + col];
    sum += part;  // BUG
    __syncthreads();
    if (threadIdx.x == 0) C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
}
