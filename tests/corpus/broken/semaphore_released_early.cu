// entry: gemm
// grid: (-(-N // 16), -(-M // 4), 3)
// block: (16, 4)
// defect: // BUG
// kinds: race, wrong-values
// about: The turn is given back before all warps of the block have stored.

__device__ int sem[4096];
__device__ int ld_acquire(int *p) {
    int v;
    asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
__device__ void st_release(int *p, int v) {
    asm volatile("st.global.release.gpu.b32 [%0], %1;" :: "l"(p), "r"(v) : "memory");
}
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    int *lock = sem + blockIdx.y * gridDim.x + blockIdx.x;
    float s = 0;
    if (row < M && col < N) for (int k = blockIdx.z; k < K; k += gridDim.z) s += A[row * K + k] * B[k * N + col];
    const bool wait_thread = threadIdx.x == 0 && threadIdx.y == 0;
    int state = 0;
    if (wait_thread) state = ld_acquire(lock);
    while (__syncthreads_and(wait_thread ? state != (int)blockIdx.z : 1)) if (wait_thread) state = ld_acquire(lock);
    __syncthreads();
    if (row < M && col < N) {
        float *c = C + row * N + col;
        if (blockIdx.z) *c += alpha * s;  // BUG: missing
        else C[row * N + col] = beta == 0 ? alpha * s : alpha * s + beta * C[row * N + col];  // BUG: missing
    }
    if (wait_thread) st_release(lock, blockIdx.z + 1 == gridDim.z ? 0 : blockIdx.z + 1);
}
