// entry: rect
// grid: (-(-N // 32), -(-M // 8))
// block: (32, 8)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: No barrier between the stores and the loads.

template <typename F> __device__ F pick(bool ok, const F *p) { return ok ? *p : F(0); }
__global__ void rect(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[8][8], Bs[8][32];
    const int x = threadIdx.x, y = threadIdx.y, m = blockIdx.y * 8 + y, n = blockIdx.x * 32 + x;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 8) {
        if (x < 8) As[y][x] = pick(m < M && k0 + x < K, A + m * K + k0 + x);
        Bs[y][x] = pick(k0 + y < K && n < N, B + (k0 + y) * N + n);  // BUG: missing
        for (int k = 0; k < 8; ++k) acc += As[y][k] * Bs[k][x];  // BUG: shows
        __syncthreads();
    }
    if (m < M && n < N) C[m * N + n] = alpha * acc + (beta == 0 ? 0 : beta * C[m * N + n]);
}
