// entry: spin
// grid: (N, M)
// block: 32
// shapes: (2, 3, 40)
// about: The lanes of a warp add to a shared sum one after the other, under a lock in global memory.

__device__ int lock_[64];
__global__ void spin(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ volatile float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    float s = 0;
    for (int k = threadIdx.x; k < K; k += 32) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    int *l = &lock_[blockIdx.y * gridDim.x + blockIdx.x];
    bool done = false;
    while (!done) {
        if (atomicCAS(l, 0, 1) == 0) {
            __threadfence();
            total = total + s;
            __threadfence();
            atomicExch(l, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) C[blockIdx.y * N + blockIdx.x] = alpha * total + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
