// entry: mm
// grid: (-(-N // 16), -(-M // 16))
// block: 128
// shapes: (35, 37, 40), (5, 3, 9)
// defect: // BUG
// kinds: race, wrong-values
// about: The next tile goes to the buffer that is being read.

#define BS 16

__global__ void mm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float buffer[4][BS * BS];
    float *a_now = buffer[0], *b_now = buffer[1], *a_next = buffer[2], *b_next = buffer[3];
    const int t = threadIdx.x;
    const int r = t / BS, c = t % BS;                 // this thread's elements: rows r and r + 8, column c
    const int row = blockIdx.y * BS + r, col = blockIdx.x * BS + c;
    float ra[2], rb[2];

    auto fetch = [&](int k0) {
        for (int i = 0; i < 2; ++i) {
            ra[i] = row + 8 * i < M && k0 + c < K ? A[(row + 8 * i) * K + k0 + c] : 0;
            rb[i] = k0 + r + 8 * i < K && col < N ? B[(k0 + r + 8 * i) * N + col] : 0;
        }
    };
    auto put = [&](float *a, float *b) {
        for (int i = 0; i < 2; ++i) {
            a[(r + 8 * i) * BS + c] = ra[i];
            b[(r + 8 * i) * BS + c] = rb[i];
        }
    };

    fetch(0);
    put(a_now, b_now);
    __syncthreads();
    float s0 = 0, s1 = 0;
    for (int k0 = 0; k0 < K; k0 += BS) {
        const bool more = k0 + BS < K;
        if (more) fetch(k0 + BS);
        for (int k = 0; k < BS; ++k) {
            s0 += a_now[r * BS + k] * b_now[k * BS + c];  // BUG: shows
            s1 += a_now[(r + 8) * BS + k] * b_now[k * BS + c];  // BUG: shows
        }
        if (more) put(a_now, b_now);  // BUG
        __syncthreads();
        float *swap = a_now; a_now = a_next; a_next = swap;
        swap = b_now; b_now = b_next; b_next = swap;
    }
    if (col < N) {
        if (row < M) C[row * N + col] = alpha * s0 + (beta == 0 ? 0 : beta * C[row * N + col]);
        if (row + 8 < M) C[(row + 8) * N + col] = alpha * s1 + (beta == 0 ? 0 : beta * C[(row + 8) * N + col]);
    }
}
