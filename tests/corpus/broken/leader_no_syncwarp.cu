// entry: gemm
// grid: (N, M, 2)
// block: 64
// shapes: (3, 5, 70), (1, 1, 1)
// defect: // BUG
// kinds: race, wrong-values
// about: Nothing orders the lane that clears before the lane that adds.

__device__ float parts[4096];
__device__ int arrived[256];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 + 2 * blockIdx.z;
    const int row = blockIdx.y, col = blockIdx.x, at = row * N + col;
    float sum = 0.0f;
    for (int k = warp * 32 + lane; k < K; k += 128) sum += A[row * K + k] * B[k * N + col];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 5) parts[at * 4 + warp] = 0.0f;
    if (lane == 0) parts[at * 4 + warp] += sum;  // BUG
    __syncwarp();
    int ticket = 0;
    if (lane == 31) {
        __threadfence();
        ticket = atomicAdd(&arrived[at], 1);
    }
    ticket = __shfl_sync(0xffffffff, ticket, 31);
    if (ticket != 3) return;
    __threadfence();
    float total = lane < 4 ? parts[at * 4 + lane] : 0.0f;
    total += __shfl_xor_sync(0xffffffff, total, 1);
    total += __shfl_xor_sync(0xffffffff, total, 2);
    if (lane == 0) C[at] = beta == 0.0f ? alpha * total : alpha * total + beta * C[at];
}
