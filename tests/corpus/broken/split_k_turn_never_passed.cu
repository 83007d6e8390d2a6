// entry: gemm
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// shapes: (1, 1, 1), (33, 32, 40), (50, 35, 70)
// defect: // BUG
// kinds: endless-loop, barrier-divergence
// about: Nobody passes the turn on, so the second block waits for ever.

#define MAX_TILES 64

__device__ unsigned int turn[MAX_TILES];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    const bool inside = row < M && col < N, one = threadIdx.x == 0 && threadIdx.y == 0;
    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int half = (K + 1) / 2, first = blockIdx.z == 0 ? 0 : half, end = blockIdx.z == 0 ? half : K;
    float acc = 0.0f;
    if (inside)
        for (int k = first; k < end; ++k) acc += A[row * K + k] * B[k * N + col];

    if (one)
        while (atomicAdd(&turn[tile], 0u) != blockIdx.z) {  // BUG: shows
        }
    __threadfence();  // BUG: shows
    __syncthreads();  // BUG: shows
    if (inside) {
        volatile float *c = C + row * N + col;
        if (blockIdx.z == 0)
            *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
        else
            *c = *c + alpha * acc;
    }
    __threadfence();  // BUG: shows
    __syncthreads();  // BUG: shows
}
