// entry: gemm
// grid: (-(-N // 8), -(-M // 8), 3)
// block: (8, 8)
// defect: // BUG
// kinds: race, wrong-values
// about: red.relaxed announces a part that other blocks may not see yet.

__device__ int done[4096];
__device__ float part[4][1 << 16];
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // block z > 0 leaves its part and signals; block z = 0 waits for all and stores (all blocks fit on the GPU)
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    const int tile = blockIdx.y * gridDim.x + blockIdx.x, me = tile * 64 + threadIdx.y * 8 + threadIdx.x;
    float s = 0;
    if (row < M && col < N) for (int k = blockIdx.z; k < K; k += gridDim.z) s += A[row * K + k] * B[k * N + col];
    const bool lead = threadIdx.x == 0 && threadIdx.y == 0;
    if (blockIdx.z) {
        part[blockIdx.z][me] = s;  // BUG: shows
        __syncthreads();
        if (lead) asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" :: "l"(done + tile) : "memory");  // BUG
        return;
    }
    if (lead) {
        int v;
        do {
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(done + tile) : "memory");
        } while (v < (int)gridDim.z - 1);
        done[tile] = 0;
    }
    __syncthreads();
    for (int z = 1; z < gridDim.z; ++z) s += part[z][me];  // BUG: shows
    if (row < M && col < N) C[row * N + col] = beta == 0 ? alpha * s : alpha * s + beta * C[row * N + col];
}
