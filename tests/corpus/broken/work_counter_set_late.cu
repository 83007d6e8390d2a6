// entry: k
// grid: (-(-N // 32), -(-M // 16))
// block: 128
// defect: // BUG
// kinds: race, uninitialized
// about: No barrier after the counter of work is set: right if warp 0 comes first.

// chunks of work taken from a counter in shared memory by whichever warp is free (one atomic per warp)
__global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;  // BUG
    const int lane = threadIdx.x & 31;
    const int rows = min(16, M - (int)blockIdx.y * 16);
    for (;;) {
        int j;
        if (lane == 0) j = atomicAdd(&next, 1);  // BUG
        j = __shfl_sync(0xffffffffu, j, 0);
        if (j >= rows) break;
        const int r = blockIdx.y * 16 + j, c = blockIdx.x * 32 + lane;
        const unsigned live = __ballot_sync(0xffffffffu, c < N);
        if (c < N) {
            float s = 0.f;
            const int leader = __ffs(live) - 1;
            for (int i = 0; i < K; ++i) {
                float a = 0.f;
                if (lane == leader) a = A[r * K + i];
                a = __shfl_sync(live, a, leader);
                s += a * B[i * N + c];
            }
            C[r * N + c] = beta == 0.f ? alpha * s : alpha * s + beta * C[r * N + c];
        }
    }
}
