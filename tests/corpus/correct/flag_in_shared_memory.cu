// entry: sflag
// grid: (-(-N // 32), M)
// block: 64
// shapes: (3, 37, 19)
// about: One warp hands the other its sums, with a volatile flag in shared memory.

__global__ void sflag(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float half_sum[32];
    __shared__ volatile int ready;
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, i = blockIdx.y, j = blockIdx.x * 32 + lane;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    float s = 0;
    if (j < N) for (int k = w; k < K; k += 2) s += A[i * K + k] * B[k * N + j];
    if (w == 1) {
        half_sum[lane] = s;
        __threadfence_block();
        __syncwarp();
        if (lane == 0) ready = 1;
    } else {
        while (ready == 0) ;
        __threadfence_block();
        s += half_sum[lane];
        if (j < N) C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
    }
}
