// entry: gemm
// grid: (-(-N // 4), M)
// block: 128
// shapes: (1, 1, 1), (3, 3, 431), (7, 6, 33), (20, 17, 64)
// defect: // BUG
// kinds: wrong-values
// about: A butterfly with a mask of 32 brings back one's own value and leaves out the last step.

#define FULL_MASK 0xffffffffu

__device__ __forceinline__ unsigned lane_id() {
    unsigned id;
    asm("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned lane = lane_id(), warp = threadIdx.x >> 5;
    const int row = blockIdx.y, col = blockIdx.x * 4 + warp;
    float acc = 0.0f;
    if (col < N)
        for (int k = lane; k < K; k += 32) acc = fmaf(A[row * K + k], B[k * N + col], acc);
#pragma unroll
    for (int mask = 32; mask > 1; mask >>= 1) acc += __shfl_xor_sync(FULL_MASK, acc, mask);  // BUG
    if (lane == 31 && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
