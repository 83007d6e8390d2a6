// 02  Shared-memory tiling: a block computes a TILE x TILE square of C together.
//
//   C (M x N) = alpha * A (M x K) * B (K x N) + beta * C        row-major, float32
//
//   threads   TILE * TILE in a block, one for each element of its square
//   reads     2K / TILE words per element from global memory: each word that a thread loads serves TILE threads
//             2K words per element from shared memory, as many as the naive kernel took from global memory
//
// PAD widens the rows of both tiles by PAD unused floats. Lesson 02 measures what that does.

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
        As[ty][tx] = (row < M && k0 + tx < K) ? A[(size_t)row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(size_t)(k0 + ty) * N + col] : 0.0f;
        __syncthreads();  // nobody reads a tile before all of it is there

        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();  // nobody overwrites a tile that somebody still reads
    }

    if (row < M && col < N) {
        float *c = C + (size_t)row * N + col;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}
