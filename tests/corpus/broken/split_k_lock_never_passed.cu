// entry: locked
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// shapes: (16, 16, 8)
// defect: // BUG
// kinds: endless-loop
// about: Nobody stores the number that the second block waits for.

__device__ int mutex[64];
__global__ void locked(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int tile = blockIdx.y * gridDim.x + blockIdx.x, row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float s = 0;
    if (row < M && col < N) for (int k = blockIdx.z; k < K; k += 2) s += A[row * K + k] * B[k * N + col];
    bool first = threadIdx.x == 0 && threadIdx.y == 0;
    if (first) while (atomicCAS(&mutex[tile], 2 * blockIdx.z, 1) != 2 * blockIdx.z) ;  // BUG
    __syncthreads();
    if (row < M && col < N) {
        float old = blockIdx.z ? C[row * N + col] : beta == 0 ? 0 : beta * C[row * N + col];
        C[row * N + col] = alpha * s + old;
    }
    __threadfence();
}
