// entry: nocas
// grid: (N, M)
// block: 64
// shapes: (2, 3, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: The sum is changed after the lock has been given back.

__global__ void nocas(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float total;
    __shared__ int lock;
    if (threadIdx.x == 0) total = lock = 0;
    __syncthreads();
    float s = 0;
    for (int k = threadIdx.x; k < K; k += 64) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            done = true;
            atomicExch(&lock, 0);
        }
    }
    total += s;  // BUG
    __syncthreads();
    if (threadIdx.x == 0) C[blockIdx.y * N + blockIdx.x] = alpha * total + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
