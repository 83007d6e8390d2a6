// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: barrier-divergence, uninitialized, race, wrong-values
// about: A lambda holds a step and its barrier; threads below C return from it before the barrier and go on.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][16], Bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.0f;
    auto load = [&](int k0) {
        if (row >= M) return;  // BUG
        As[ty][tx] = k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;                        // BUG: shows
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;           // BUG: shows
        __syncthreads();                                                               // BUG: shows
    };
    for (int k0 = 0; k0 < K; k0 += 16) {
        load(k0);  // BUG: shows
        for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        __syncthreads();                                            // BUG: shows
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
