// entry: locked
// grid: (-(-N // 8), -(-M // 8), 2)
// block: (8, 8)
// shapes: (1, 1, 1), (11, 12, 21)
// defect: // BUG
// kinds: race, wrong-values
// about: The lock is given back without a fence.

__device__ int lock[64], done[64];
__device__ float total[4096];

__global__ void locked(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ bool finish;
    const int tile = blockIdx.y * gridDim.x + blockIdx.x, t = threadIdx.y * 8 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float part = 0.0f;
    if (row < M && col < N)
        for (int k = blockIdx.z; k < K; k += 2) part += A[row * K + k] * B[k * N + col];
    if (t == 0) {
        while (atomicCAS(&lock[tile], 0, 1) != 0) {}
        __threadfence();
    }
    __syncthreads();
    total[tile * 64 + t] += part;  // BUG: shows
    if (t == 0) finish = ++done[tile] == 2;  // BUG: shows
    // BUG: missing
    __syncthreads();
    if (finish && row < M && col < N) {
        float *c = &C[row * N + col];
        *c = beta == 0.0f ? alpha * total[tile * 64 + t] : alpha * total[tile * 64 + t] + beta * *c;
    }
    if (t == 0) {
        atomicExch(&lock[tile], 0);  // BUG: shows
    }
}
