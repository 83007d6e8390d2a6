// entry: naive<true>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: beta is ignored.

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
    *c = alpha * acc;  // BUG
}
