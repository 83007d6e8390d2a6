// entry: aggr
// grid: (-(-N // 8), -(-M // 4))
// block: 128
// shapes: (5, 9, 21)
// about: Lanes with the same element find each other, and one adds for all.

__global__ void aggr(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // four lanes for each element, one of the four adds for all
    __shared__ float S[32];
    if (threadIdx.x < 32) S[threadIdx.x] = 0;
    __syncthreads();
    int e = threadIdx.x / 4, q = threadIdx.x % 4, i = blockIdx.y * 4 + e / 8, j = blockIdx.x * 8 + e % 8;
    float s = 0;
    if (i < M && j < N) for (int k = q; k < K; k += 4) s += A[i * K + k] * B[k * N + j];
    unsigned peers = __match_any_sync(0xffffffff, e);
    float total = 0;
    for (unsigned left = peers; left; left &= left - 1) total += __shfl_sync(peers, s, __ffs(left) - 1);
    if (threadIdx.x % 32 == __ffs(peers) - 1) atomicAdd(&S[e], total);
    __syncthreads();
    if (q == 0 && i < M && j < N) C[i * N + j] = alpha * S[e] + (beta == 0 ? 0 : beta * C[i * N + j]);
}
