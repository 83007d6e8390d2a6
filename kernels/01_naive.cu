// 01  Naive: one thread computes one element of C.
//
//   C (M x N) = alpha * A (M x K) * B (K x N) + beta * C        row-major, float32
//
//   threads   one for each element of C, in blocks of blockDim.x * blockDim.y
//   reads     2K words per element: a row of A and a column of B, straight from global memory
//
// COALESCED decides which threads sit side by side in a warp, and nothing else. A warp is 32 threads with consecutive
// threadIdx.x:
//   true      threadIdx.x walks along a row of C: the warp reads one word of A and 32 neighbouring words of B
//   false     threadIdx.x walks down a column of C: the warp reads 32 words of A, K words apart, and one word of B

template <bool COALESCED>
__global__ void naive(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned row = COALESCED ? y : x;
    const unsigned col = COALESCED ? x : y;

    if (row >= M || col >= N) return;  // the grid is rounded up to whole blocks

    // Offsets are 64-bit: a matrix may have more than 2^31 elements.
    const float *a = A + (size_t)row * K;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += a[k] * B[(size_t)k * N + col];

    // As in BLAS, beta == 0 means that C is not read at all: it may hold NaN.
    float *c = C + (size_t)row * N + col;
    *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
}
