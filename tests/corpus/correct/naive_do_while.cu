// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: K is at least 1, so the loop tests at its end.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float acc = 0.0f;
        int k = 0;
        do {
            acc += A[row * K + k] * B[k * N + col];
        } while (++k < K);
        acc *= alpha;
        if (beta != 0.0f) acc += beta * C[row * N + col];
        C[row * N + col] = acc;
    }
}
