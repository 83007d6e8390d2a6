// entry: epi2
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: The results go where others still read their tiles.

__global__ void epi2(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float S[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        if (k0) __syncthreads();
        S[0][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        S[1][ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += S[0][ty][k] * S[1][k][tx];  // BUG: shows
    }
    S[0][ty][tx] = alpha * acc;  // BUG
    if (row < M && col < N) C[row * N + col] = S[0][ty][tx] + (beta == 0 ? 0 : beta * C[row * N + col]);
}
