// entry: gemm
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: One block prepares C, two add to it by atomicAdd; nothing says that the preparation comes first.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    if (blockIdx.z == 0) C[row * N + col] = beta == 0.0f ? 0.0f : beta * C[row * N + col];  // BUG
    float acc = 0.0f;
    for (int k = blockIdx.z; k < K; k += gridDim.z) acc += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], alpha * acc);  // BUG
}
