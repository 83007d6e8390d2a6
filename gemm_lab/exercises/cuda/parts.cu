__device__ float sums[1 << 16];        // of the blocks that share a tile of C: T * T words each
__device__ unsigned finished[1 << 8];  // blocks that are done, for each tile; 0 before and after a launch

__global__ void parts(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // SPLITS blocks, along z, compute a tile of C together, each its part of K. Whoever finishes last adds up the sums.
    constexpr int T = 16, SPLITS = 3;
    __shared__ float As[T][T], Bs[T][T];
    __shared__ bool last;
    const int tx = threadIdx.x, ty = threadIdx.y, tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int part = ((K + T - 1) / T + SPLITS - 1) / SPLITS * T;  // of K, in whole steps
    const int from = blockIdx.z * part, to = min(K, from + part);
    float acc = 0.0f;
    for (int k0 = from; k0 < to; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < to ? A[(size_t)row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < to && col < N ? B[(size_t)(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    float *all = sums + (size_t)tile * SPLITS * T * T + ty * T + tx;
    all[blockIdx.z * T * T] = acc;
    __threadfence();  // before the count
    __syncthreads();  // before one thread counts for all
    if (tx == 0 && ty == 0) last = atomicAdd(&finished[tile], 1) == SPLITS - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (tx == 0 && ty == 0) finished[tile] = 0;
    float total = 0.0f;
    for (int s = 0; s < SPLITS; ++s)
        total += __ldcg(&all[s * T * T]);
    if (row < M && col < N) {
        float *c = C + (size_t)row * N + col;
        *c = beta == 0.0f ? alpha * total : alpha * total + beta * *c;
    }
}
