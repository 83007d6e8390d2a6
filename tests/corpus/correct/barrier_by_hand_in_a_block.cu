// entry: spinbar
// grid: (-(-N // 32), -(-M // 2))
// block: 64
// shapes: (5, 37, 40)
// about: A barrier of two warps made of an atomic and a volatile word in shared memory.

struct Barrier { int count, phase; };
__device__ void wait(volatile Barrier *b) {
    // a block-wide barrier by hand: one lane of each warp takes part
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        int p = b->phase;
        __threadfence_block();
        if (atomicAdd((int *)&b->count, 1) == 1) { b->count = 0; __threadfence_block(); b->phase = p ^ 1; }
        else while (b->phase == p) ;
        __threadfence_block();
    }
    __syncwarp();
}
__global__ void spinbar(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float Bs[16][32];
    __shared__ Barrier bar;
    if (threadIdx.x == 0) bar.count = bar.phase = 0;
    __syncthreads();
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, i = blockIdx.y * 2 + w, j = blockIdx.x * 32 + lane;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int k = w; k < 16; k += 2) Bs[k][lane] = k0 + k < K && j < N ? B[(k0 + k) * N + j] : 0;
        wait(&bar);
        for (int k = 0; k < 16; ++k) s += (i < M && k0 + k < K ? A[i * K + k0 + k] : 0) * Bs[k][lane];
        wait(&bar);
    }
    if (i < M && j < N) C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
