// entry: k
// grid: M
// block: 128
// defect: // BUG
// kinds: race, uninitialized
// about: The thread that sets the counter is the first to take from it; the other warps may be before it.

__global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;  // BUG
    const int lane = threadIdx.x & 31, r = blockIdx.x;
    int j = 0;
    if (lane == 0) j = atomicAdd(&next, 32);  // BUG
    j = __shfl_sync(~0u, j, 0);
    while (j < N) {
        if (j + lane < N) {
            float s = 0.f;
            for (int i = 0; i < K; ++i) s += A[r * K + i] * B[i * N + j + lane];
            float *p = C + r * N + j + lane;
            *p = beta == 0.f ? alpha * s : alpha * s + beta * *p;
        }
        if (lane == 0) j = atomicAdd(&next, 32);
        j = __shfl_sync(~0u, j, 0);
    }
}
