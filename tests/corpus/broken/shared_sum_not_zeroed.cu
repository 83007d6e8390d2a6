// entry: satom
// grid: (N, M)
// block: 64
// shapes: (2, 3, 70)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The sum in shared memory begins with no value.

__global__ void satom(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float total;  // BUG
    float s = 0;
    for (int k = threadIdx.x; k < K; k += blockDim.x) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    atomicAdd(&total, s);  // BUG: shows
    __syncthreads();
    if (threadIdx.x == 0) C[blockIdx.y * N + blockIdx.x] = alpha * total + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);  // BUG: shows
}
