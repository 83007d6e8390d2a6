// entry: forty
// grid: (N, M)
// block: 40
// shapes: (2, 3, 90)
// about: A block of 40 threads: the mask of the second warp names its eight lanes.

__global__ void forty(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sums[2];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    float s = 0;
    for (int k = threadIdx.x; k < K; k += 40) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    if (w == 0) for (int d = 16; d; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
    else for (int d = 4; d; d /= 2) s += __shfl_down_sync(0xff, s, d);
    if (lane == 0) sums[w] = s;
    __syncthreads();
    if (threadIdx.x == 0) C[blockIdx.y * N + blockIdx.x] = alpha * (sums[0] + sums[1]) + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);
}
