// entry: gemm
// grid: (-(-N // 8), -(-M // 8), 3)
// block: 64
// shapes: (9, 10, 11), (1, 2, 3)
// defect: // BUG
// kinds: race, wrong-values
// about: No fence between a part and its ticket.

__device__ float parts[3 * 1024];
__device__ unsigned tickets[1024];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 8 + threadIdx.x / 8, col = blockIdx.x * 8 + threadIdx.x % 8;
    if (row >= M || col >= N) return;
    const int at = row * N + col;
    float part = 0.0f;
    for (int k = blockIdx.z; k < K; k += gridDim.z) part += A[row * K + k] * B[k * N + col];
    parts[blockIdx.z * 1024 + at] = part;  // BUG: shows
    if (atomicAdd(&tickets[at], 1u) + 1 < gridDim.z) return;  // BUG: shows
    __threadfence();
    float sum = 0.0f;
    for (int z = 0; z < gridDim.z; ++z) sum += parts[z * 1024 + at];  // BUG: shows
    C[at] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[at];
}
