// entry: gemm
// grid: (-(-N // 32), -(-M // 4) + 1)
// block: (32, 4)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: <= for <: a lane outside reads B.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const unsigned all = 0xffffffffu;
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    const bool inside = row < M && col < N;
    if (!__any_sync(all, inside)) return;
    float acc = 0.0f;
    if (__all_sync(all, inside)) {
        for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    } else {
        const int columns = __popc(__ballot_sync(all, inside));
        for (int k = 0; k < K; ++k)
            if (threadIdx.x <= columns) acc += A[row * K + k] * B[k * N + col];  // BUG
    }
    if (inside) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
