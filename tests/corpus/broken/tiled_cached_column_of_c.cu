// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: beta * C waits in shared memory, where each thread reads its neighbour's element, mirrored, without a barrier.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float old[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, other = blockIdx.x * 16 + 15 - tx;
    old[ty][15 - tx] = row < M && other < N && beta != 0.0f ? beta * C[row * N + other] : 0.0f;  // BUG: missing
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * acc + old[ty][tx];  // BUG: shows
}
