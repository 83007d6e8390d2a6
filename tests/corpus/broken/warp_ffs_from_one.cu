// entry: ffs1
// grid: (-(-N // 32), M)
// block: 32
// shapes: (3, 20, 40)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: __ffs counts from 1.

__global__ void ffs1(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int lane = threadIdx.x, i = blockIdx.y, j = blockIdx.x * 32 + lane;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        float a = k0 + lane < K ? A[i * K + k0 + lane] : 0.f;
        for (unsigned todo = __ballot_sync(~0u, a != 0.f); todo; todo &= todo - 1) {
            int k = __ffs(todo);  // BUG
            float v = __shfl_sync(~0u, a, k);
            if (j < N) acc += v * B[(k0 + k) * N + j];  // BUG: shows
        }
    }
    if (j < N) C[i * N + j] = alpha * acc + (beta == 0 ? 0 : beta * C[i * N + j]);
}
