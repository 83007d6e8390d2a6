// entry: gemm
// grid: -(-(M * N) // 16)
// block: 128
// shapes: (1, 1, 1), (3, 3, 431), (7, 6, 33), (20, 17, 64)
// about: Eight lanes for each element, by shuffles of width 8; groups outside take part with zeros.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int element = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    const int row = element / N, col = element % N;
    float acc = 0.0f;
    if (row < M)
        for (int k = lane; k < K; k += 8) acc += A[row * K + k] * B[k * N + col];
    acc += __shfl_down_sync(0xffffffff, acc, 4, 8);
    acc += __shfl_down_sync(0xffffffff, acc, 2, 8);
    acc += __shfl_down_sync(0xffffffff, acc, 1, 8);
    if (row < M && lane == 0) C[element] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[element];
}
