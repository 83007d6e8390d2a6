// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: (32, 32)
// defect: // BUG
// kinds: wrong-values
// about: Stored and read with different exchanges.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float At[32][32];
    __shared__ float Bs[32][32];
    const unsigned tx = threadIdx.x, ty = threadIdx.y;
    const unsigned row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float acc = 0.0f;
    for (unsigned k0 = 0; k0 < K; k0 += 32) {
        At[tx][ty ^ tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (unsigned k = 0; k < 32; ++k) acc += At[k][ty ^ tx] * Bs[k][tx];  // BUG
        __syncthreads();
    }
    if (row < M && col < N) {
        float *c = C + row * N + col;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}
