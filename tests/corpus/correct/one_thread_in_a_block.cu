// entry: lonely
// grid: (N, M)
// block: 1
// shapes: (3, 4, 9)
// about: A block of one thread, with a sum in shared memory and a barrier.

__global__ void lonely(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float s;
    s = 0;
    for (int k = 0; k < K; ++k) { s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x]; __syncthreads(); }
    C[blockIdx.y * N + blockIdx.x] = alpha * s + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
