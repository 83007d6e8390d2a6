// entry: gemm
// grid: (-(-N // 32), -(-M // 4))
// block: (32, 4)
// about: Which loop a thread is in depends on the data: positive products and the others are summed apart.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float up = 0.0f, down = 0.0f;
    for (int k = 0; k < K; ++k) {
        const float a = A[row * K + k];
        if (B[k * N + col] > 0.0f) {
            for (int half = 0; half < (k & 1) + 1; ++half) up += a * B[k * N + col] * (k & 1 ? 0.5f : 1.0f);
        } else {
            down -= a * B[k * N + col];
        }
    }
    const float acc = up - down;
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
