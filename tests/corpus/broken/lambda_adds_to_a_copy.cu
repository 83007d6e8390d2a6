// entry: bycopy
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: [=] adds into a copy.

__global__ void bycopy(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float acc = 0.f;
    auto mac = [=](float a, float b) mutable { acc += a * b; };  // BUG
    for (int k = 0; k < K; ++k) mac(A[i * K + k], B[k * N + j]);
    C[i * N + j] = alpha * acc + (beta == 0 ? 0 : beta * C[i * N + j]);
}
