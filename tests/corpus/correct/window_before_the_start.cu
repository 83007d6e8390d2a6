// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Not a bug: pointers start one step early and are moved on before each use.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    const float *a = A + row * K - 1, *b = B + col - N;
    float acc = 0.0f;
    int k = K;
    while (k-- > 0) acc += *++a * *(b += N);
    float *c = C + row * N + col;
    *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
}
