// entry: gemm
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// shapes: (1, 1, 1), (33, 32, 40), (50, 35, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: Two blocks read and write C in no order.

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

    __threadfence();
    __syncthreads();
    if (inside) {
        volatile float *c = C + row * N + col;  // BUG: shows
        if (blockIdx.z == 0)
            *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;  // BUG: shows
        else
            *c = *c + alpha * acc;  // BUG: shows
    }
    __threadfence();
    __syncthreads();
    if (one) atomicExch(&turn[tile], (blockIdx.z + 1) % gridDim.z);
}
