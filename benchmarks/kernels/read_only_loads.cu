// entry: gemm
// grid: (-(-N // 24), -(-M // 4))
// block: (24, 4)
// about: __ldg through the read-only path, and factors of the rounds of the sum in constant memory; 96 threads.

__constant__ float signs[4] = {1.0f, -1.0f, 1.0f, -1.0f};

__global__ void gemm(int M, int N, int K, float alpha, const float *__restrict__ A, const float *__restrict__ B,
                     float beta, float *__restrict__ C) {
    const int row = blockIdx.y * 4 + threadIdx.y, col = blockIdx.x * 24 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        const float one = signs[k & 3] * signs[(k + col * 2) & 3];
        acc += one * __ldg(A + row * K + k) * __ldg(B + k * N + col);
    }
    float *c = C + row * N + col;
    *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
}
