// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 2)
// about: Lambdas that capture local arrays by reference, nested, and a template that calls them.

template <int N, class F>
__device__ void repeat(F f) {
    for (int i = 0; i < N; ++i) f(i);
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float acc[4], a[4];
    const int col = blockIdx.x * 32 + threadIdx.x, row0 = (blockIdx.y * 2 + threadIdx.y) * 4;
    repeat<4>([&](int i) { acc[i] = 0.0f; });
    for (int k = 0; k < K; ++k) {
        repeat<4>([&](int i) { a[i] = row0 + i < M ? A[(row0 + i) * K + k] : 0.0f; });
        const float b = col < N ? B[k * N + col] : 0.0f;
        auto step = [&](int i) { acc[i] += a[i] * b; };
        repeat<2>([&](int h) { step(2 * h); step(2 * h + 1); });
    }
    repeat<4>([&](int i) {
        if (row0 + i >= M || col >= N) return;
        float &c = C[(row0 + i) * N + col];
        c = beta == 0.0f ? alpha * acc[i] : alpha * acc[i] + beta * c;
    });
}
