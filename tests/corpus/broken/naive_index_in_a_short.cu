// entry: shorty
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// shapes: (200, 3, 180)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The index of A overflows a short.

__global__ void shorty(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    short row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0;
    for (short k = 0; k < K; ++k) {
        short ia = row * K + k;  // BUG
        acc += A[ia] * B[k * N + col];  // BUG: shows
    }
    C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
