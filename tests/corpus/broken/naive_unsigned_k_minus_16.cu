// entry: kminus
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (5, 5, 9)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: K - 16 wraps around where K is smaller.

__global__ void kminus(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float s = 0;
    unsigned k = 0, depth = K;
    for (; k <= depth - 16; k += 16)  // BUG
        for (int u = 0; u < 16; ++u) s += A[row * K + k + u] * B[(k + u) * N + col];  // BUG: shows
    for (; k < depth; ++k) s += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * s + (beta == 0 ? 0 : beta * C[row * N + col]);
}
