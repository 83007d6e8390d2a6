// entry: pullall
// grid: -(-N // 32)
// block: 64
// shapes: (13, 37, 19)
// defect: // BUG
// kinds: wrong-values
// about: Each lane takes a row where the warp should.

__global__ void pullall(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    int j = blockIdx.x * 32 + threadIdx.x % 32;
    for (int i; (i = atomicAdd(&next, 1)) < M;) {  // BUG
        float s = 0;
        if (j < N) {
            for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
        }
    }
}
