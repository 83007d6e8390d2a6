// entry: casonce
// grid: (N, M)
// block: 64
// shapes: (2, 3, 70)
// defect: // BUG
// kinds: wrong-values
// about: A compare-and-swap that fails is not repeated.

__global__ void casonce(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float total;
    if (!threadIdx.x) total = 0;
    __syncthreads();
    float s = 0;
    for (int k = threadIdx.x; k < K; k += 64) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    int old = *(volatile int *)&total;  // BUG: shows
    atomicCAS((int *)&total, old, __float_as_int(__int_as_float(old) + s));  // BUG
    __syncthreads();
    if (!threadIdx.x) C[blockIdx.y * N + blockIdx.x] = alpha * total + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
