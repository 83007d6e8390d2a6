// entry: uniform
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: After the last tile all threads leave the loop before its second barrier.

__global__ void uniform(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, t = 0;
    const int nt = (K + 15) / 16;
    float acc = 0;
    while (true) {
        As[ty][tx] = row < M && t * 16 + tx < K ? A[row * K + t * 16 + tx] : 0;
        Bs[ty][tx] = col < N && t * 16 + ty < K ? B[(t * 16 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
        if (++t == nt) break;
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
