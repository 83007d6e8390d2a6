// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shared_bytes: 16 * 16 * 4
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The launch gives half of the shared memory that is used.

extern __shared__ float smem[];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int T = blockDim.x;
    float *As = smem;
    float *Bs = smem + T * T;  // BUG: shows
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty * T + tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0;
        Bs[ty * T + tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0;  // BUG: shows
        __syncthreads();
        for (int k = 0; k < T; k++) acc += As[ty * T + k] * Bs[k * T + tx];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) {
        int i = row * N + col;
        C[i] = beta == 0 ? alpha * acc : alpha * acc + beta * C[i];
    }
}
