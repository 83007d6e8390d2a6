// entry: dot
// grid: (N, M)
// block: 64
// shapes: (3, 3, 431), (5, 7, 64)
// defect: // BUG
// kinds: race, wrong-values
// about: The last steps of a reduction rely on a warp in lockstep, and on volatile, as one did before 2017.

__device__ void warpReduce(volatile float *sdata, int tid) {
    sdata[tid] += sdata[tid + 32];  // BUG
    sdata[tid] += sdata[tid + 16];  // BUG
    sdata[tid] += sdata[tid + 8];   // BUG
    sdata[tid] += sdata[tid + 4];   // BUG
    sdata[tid] += sdata[tid + 2];   // BUG
    sdata[tid] += sdata[tid + 1];   // BUG
}

__global__ void dot(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sdata[64];
    const int tid = threadIdx.x, row = blockIdx.y, col = blockIdx.x;
    float mine = 0.0f;
    for (int k = tid; k < K; k += 64) mine += A[row * K + k] * B[k * N + col];
    sdata[tid] = mine;
    __syncthreads();
    if (tid < 32) warpReduce(sdata, tid);
    if (tid == 0) {
        float *c = &C[row * N + col];
        *c = beta == 0.0f ? alpha * sdata[0] : alpha * sdata[0] + beta * *c;
    }
}
