// entry: tilerace
// grid: 2
// block: (8, 8)
// shapes: (20, 20, 4)
// defect: // BUG
// kinds: race, wrong-values
// about: The next number may be stored before all have read the last.

__device__ int head;
__device__ int finished;
__global__ void tilerace(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ int s_tile;
    const int nt = (N + 7) / 8, all = nt * ((M + 7) / 8);
    for (;;) {
        if (threadIdx.x == 0 && threadIdx.y == 0) s_tile = atomicAdd(&head, 1);  // BUG: shows
        __syncthreads();
        int tile = s_tile;  // BUG
        if (tile >= all) break;
        int i = tile / nt * 8 + threadIdx.y, j = tile % nt * 8 + threadIdx.x;
        if (i < M && j < N) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
        }
    }
    if (threadIdx.x == 0 && threadIdx.y == 0 && atomicAdd(&finished, 1) == gridDim.x - 1) { finished = 0; head = 0; }
}
