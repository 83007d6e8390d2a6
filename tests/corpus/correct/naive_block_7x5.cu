// entry: gemm
// grid: (-(-N // 7), -(-M // 5))
// block: (7, 5)
// about: 35 threads in a block, no multiple of a warp.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= M) return;
    if (c >= N) return;
    float t = 0;
    for (int k = 0; k < K; k++) t = t + A[r * K + k] * B[k * N + c];
    t *= alpha;
    if (beta != 0) t += beta * C[r * N + c];
    C[r * N + c] = t;
}
