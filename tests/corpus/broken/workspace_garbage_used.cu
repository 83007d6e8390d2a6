// entry: gemm
// grid: (-(-N // 8), -(-M // 8), 2)
// block: (8, 8)
// shapes: (9, 10, 13), (1, 1, 2)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: Threads outside the first half do not set their sum, and it is added.

__device__ float space[2][64][64];
__device__ int tickets[64];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ int last;
    const int t = threadIdx.y * 8 + threadIdx.x, tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum;
    if (row < M && col < N && blockIdx.z == 0) {  // BUG
        sum = 0.0f;
        for (int k = blockIdx.z; k < K; k += 2) sum += A[row * K + k] * B[k * N + col];
    }
    space[blockIdx.z][tile][t] = sum;  // BUG: shows
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(tickets + tile, 1);
    __syncthreads();
    if (last == 0) return;
    __threadfence();
    const float total = space[0][tile][t] + space[1][tile][t];  // BUG: shows
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * total : alpha * total + beta * C[row * N + col];  // BUG: shows
}
