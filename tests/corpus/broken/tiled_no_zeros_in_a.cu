// entry: shared_tiling<16, 0>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (35, 37, 19), (20, 20, 5)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: Nothing is stored in the tile of A beyond the edges.

template <int TILE, int PAD>
__global__ void shared_tiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    static_assert(TILE * TILE <= 1024, "one thread computes one element, and a block has at most 1024 threads");

    __shared__ float As[TILE][TILE + PAD];
    __shared__ float Bs[TILE][TILE + PAD];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        // Each thread brings one word of A and one of B; beyond an edge it stores 0, which adds nothing to the sum.
        if (row < M && k0 + tx < K) As[ty][tx] = A[(size_t)row * K + k0 + tx];  // BUG
        Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(size_t)(k0 + ty) * N + col] : 0.0f;
        __syncthreads();  // nobody reads a tile before all of it is there

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        __syncthreads();  // nobody overwrites a tile that somebody still reads
    }

    if (row < M && col < N) {
        float *c = C + (size_t)row * N + col;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}
