// entry: stalepre
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: Beyond the edge the prefetched words keep their last values.

__global__ void stalepre(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float nextA = row < M && tx < K ? A[row * K + tx] : 0;
    float nextB = col < N && ty < K ? B[ty * N + col] : 0;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = nextA;
        Bs[ty][tx] = nextB;
        __syncthreads();
        if (row < M && k0 + 16 + tx < K) nextA = A[row * K + k0 + 16 + tx];  // BUG
        if (col < N && k0 + 16 + ty < K) nextB = B[(k0 + 16 + ty) * N + col];
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
