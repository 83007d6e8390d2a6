// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Element access through lambdas that capture by reference, and one passed to a template.

template <typename F>
__device__ float sum_over(int n, F f) {
    float s = 0.0f;
    for (int i = 0; i < n; ++i) s += f(i);
    return s;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    auto inside = [&] { return row < M && col < N; };
    auto at = [](const float *X, int r, int c, int ld) { return X[r * ld + c]; };
    if (!inside()) return;
    const float acc = sum_over(K, [&](int k) { return at(A, row, k, K) * at(B, k, col, N); });
    float &c = C[row * N + col];
    c = beta == 0.0f ? alpha * acc : alpha * acc + beta * c;
}
