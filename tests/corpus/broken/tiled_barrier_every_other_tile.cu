// entry: every2
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: (20, 20, 50)
// defect: // BUG
// kinds: race, wrong-values
// about: The second barrier comes after every other tile only.

__global__ void every2(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int t = 0; t < (K + 15) / 16; ++t) {
        As[ty][tx] = row < M && t * 16 + tx < K ? A[row * K + t * 16 + tx] : 0;  // BUG: shows
        Bs[ty][tx] = col < N && t * 16 + ty < K ? B[(t * 16 + ty) * N + col] : 0;  // BUG: shows
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        if (t & 1) __syncthreads();  // BUG
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
