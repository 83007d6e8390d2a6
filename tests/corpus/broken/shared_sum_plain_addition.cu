// entry: plusplus
// grid: (N, M)
// block: 64
// shapes: (2, 3, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: 64 threads add to one word without an atomic.

__global__ void plusplus(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < K; k += 64) total += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];  // BUG
    __syncthreads();
    if (threadIdx.x == 0) C[blockIdx.y * N + blockIdx.x] = alpha * total + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
