// entry: gemm
// grid: (-(-N // 64), -(-M // 4))
// block: (32, 4)
// about: Two columns for a thread: float2 from global memory where N is even, 64-bit loads and stores of shared memory.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float2 Bs[8][32];
    __shared__ float As[4][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 4 + ty, col = (blockIdx.x * 32 + tx) * 2;
    float2 acc = make_float2(0.0f, 0.0f);
    for (int k0 = 0; k0 < K; k0 += 8) {
        if (tx < 8) As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        for (int r = ty; r < 8; r += 4) {
            float2 b = make_float2(0.0f, 0.0f);
            const float *from = B + (k0 + r) * N + col;
            if (k0 + r < K && col + 1 < N)
                b = N % 2 == 0 ? *reinterpret_cast<const float2 *>(from) : make_float2(from[0], from[1]);
            else if (k0 + r < K && col < N)
                b.x = from[0];
            Bs[r][tx] = b;
        }
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            const float a = As[ty][k];
            const float2 b = Bs[k][tx];
            acc.x += a * b.x;
            acc.y += a * b.y;
        }
        __syncthreads();
    }
    if (row >= M) return;
    float *c = C + row * N + col;
    if (col < N) c[0] = beta == 0.0f ? alpha * acc.x : alpha * acc.x + beta * c[0];
    if (col + 1 < N) c[1] = beta == 0.0f ? alpha * acc.y : alpha * acc.y + beta * c[1];
}
