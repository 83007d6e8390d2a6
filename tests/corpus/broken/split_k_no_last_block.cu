// entry: lastcount
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// shapes: (20, 18, 20)
// defect: // BUG
// kinds: wrong-values
// about: No block is the last: tickets begin at 0.

__device__ float ws[2][48 * 48];
__device__ unsigned tickets[9];
__global__ void lastcount(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, tile = blockIdx.y * gridDim.x + blockIdx.x;
    bool in = row < M && col < N;
    float s = 0;
    if (in) for (int k = blockIdx.z; k < K; k += 2) s += A[row * K + k] * B[k * N + col];
    if (in) ws[blockIdx.z][row * N + col] = s;
    __threadfence();
    __shared__ unsigned ticket;
    __syncthreads();
    if (threadIdx.x + threadIdx.y == 0) ticket = atomicAdd(&tickets[tile], 1);
    __syncthreads();
    if (ticket == gridDim.z) {  // BUG
        if (threadIdx.x + threadIdx.y == 0) tickets[tile] = 0;
        __threadfence();
        if (in) C[row * N + col] = alpha * (ws[0][row * N + col] + ws[1][row * N + col]) + (beta == 0 ? 0 : beta * C[row * N + col]);
    }
}
