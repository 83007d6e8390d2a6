// entry: late
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: The next fragment is fetched over the one that is in use.

__global__ void late(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        float a[2] = {As[ty][0]}, b[2] = {Bs[0][tx]};
        for (int k = 0; k < 16; ++k) {
            if (k < 15) { a[k & 1] = As[ty][k + 1]; b[(k + 1) & 1] = Bs[k + 1][tx]; }  // BUG
            acc += a[k & 1] * b[k & 1];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
