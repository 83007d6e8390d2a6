// entry: gridbar
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// shapes: (20, 18, 20)
// about: All blocks meet at a barrier made of an atomic and a volatile word.

__device__ unsigned arrivals;
__device__ volatile unsigned generation;
__device__ void grid_sync() {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        unsigned g = generation;
        __threadfence();
        if (atomicAdd(&arrivals, 1) == gridDim.x * gridDim.y * gridDim.z - 1) {
            arrivals = 0;
            __threadfence();
            generation = g + 1;
        } else while (generation == g) ;
        __threadfence();
    }
    __syncthreads();
}
__global__ void gridbar(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, z = blockIdx.z;
    bool in = row < M && col < N;
    if (z == 0 && in) C[row * N + col] = beta == 0 ? 0 : beta * C[row * N + col];
    grid_sync();
    if (in) {
        float s = 0;
        for (int k = z; k < K; k += gridDim.z) s += A[row * K + k] * B[k * N + col];
        atomicAdd(&C[row * N + col], alpha * s);
    }
}
