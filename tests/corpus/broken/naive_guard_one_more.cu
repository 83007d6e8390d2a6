// entry: naive<true>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds, race, wrong-values
// about: > for >=: a row and a column outside take part.

template <bool COALESCED>
__global__ void naive(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned row = COALESCED ? y : x;
    const unsigned col = COALESCED ? x : y;

    if (row > M || col > N) return;  // BUG

    // Offsets are 64-bit: a matrix may have more than 2^31 elements.
    const float *a = A + (size_t)row * K;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += a[k] * B[(size_t)k * N + col];  // BUG: shows

    // As in BLAS, beta == 0 means that C is not read at all: it may hold NaN.
    float *c = C + (size_t)row * N + col;
    *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;  // BUG: shows
}
