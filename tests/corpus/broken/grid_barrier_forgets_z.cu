// entry: gridx
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// shapes: (20, 18, 20)
// defect: // BUG
// kinds: race, endless-loop, wrong-values
// about: The barrier of all blocks opens too early: it does not count those along z.

__device__ unsigned arrivals;
__device__ volatile unsigned generation;
__device__ void grid_sync() {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        unsigned g = generation;
        __threadfence();
        if (atomicAdd(&arrivals, 1) == gridDim.x * gridDim.y - 1) {  // BUG
            arrivals = 0;
            __threadfence();
            generation = g + 1;
        } else while (generation == g) ;  // BUG: shows
        __threadfence();
    }
    __syncthreads();
}
__global__ void gridx(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, z = blockIdx.z;
    bool in = row < M && col < N;
    if (z == 0 && in) C[row * N + col] = beta == 0 ? 0 : beta * C[row * N + col];  // BUG: shows
    grid_sync();
    if (in) {
        float s = 0;
        for (int k = z; k < K; k += gridDim.z) s += A[row * K + k] * B[k * N + col];
        atomicAdd(&C[row * N + col], alpha * s);  // BUG: shows
    }
}
