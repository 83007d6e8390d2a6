// entry: lin3
// grid: (-(-N // 16), -(-M // 16))
// block: (8, 8, 4)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: The third dimension is counted in rows, not in layers.

__global__ void lin3(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int t = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.y;  // BUG
    int r = t / 16, c = t % 16, row = blockIdx.y * 16 + r, col = blockIdx.x * 16 + c;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[r][c] = row < M && k0 + c < K ? A[row * K + k0 + c] : 0;
        Bs[r][c] = col < N && k0 + r < K ? B[(k0 + r) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[r][k] * Bs[k][c];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);  // BUG: shows
}
