// entry: advance
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (35, 37, 50)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: B moves on by rows of K words; they have N.

__global__ void advance(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    A += blockIdx.y * 16 * K;
    B += blockIdx.x * 16;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[ty * K + tx] : 0;
        Bs[ty][tx] = col < N && k0 + ty < K ? B[ty * N + tx] : 0;  // BUG: shows
        __syncthreads();
        A += 16;
        B += 16 * K;  // BUG
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
