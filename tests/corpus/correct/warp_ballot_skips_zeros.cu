// entry: skips
// grid: (-(-N // 32), M)
// block: 32
// shapes: (3, 20, 40)
// about: A warp goes over the lanes whose word of A is not 0.

__global__ void skips(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int lane = threadIdx.x, i = blockIdx.y, j = blockIdx.x * 32 + lane;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        float a = k0 + lane < K ? A[i * K + k0 + lane] : 0.f;
        unsigned todo = __ballot_sync(0xffffffffu, a != 0.f);
        while (todo) {
            int k = __ffs(todo) - 1;
            todo &= todo - 1;
            float v = __shfl_sync(0xffffffffu, a, k);
            if (j < N) acc += v * B[(k0 + k) * N + j];
        }
    }
    if (j < N) C[i * N + j] = alpha * acc + (beta == 0 ? 0 : beta * C[i * N + j]);
}
