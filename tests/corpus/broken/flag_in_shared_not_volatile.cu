// entry: sflag
// grid: (-(-N // 32), M)
// block: 64
// shapes: (3, 37, 19)
// defect: // BUG
// kinds: race, endless-loop, wrong-values
// about: The flag in shared memory is not volatile, and there is no fence.

__global__ void sflag(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float half_sum[32];
    __shared__ int ready;  // BUG
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, i = blockIdx.y, j = blockIdx.x * 32 + lane;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    float s = 0;
    if (j < N) for (int k = w; k < K; k += 2) s += A[i * K + k] * B[k * N + j];
    if (w == 1) {
        half_sum[lane] = s;
        if (lane == 0) ready = 1;  // BUG: shows
    } else {
        while (ready == 0) ;  // BUG: shows
        s += half_sum[lane];  // BUG: shows
        if (j < N) C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
    }
}
