// entry: nolockfence
// grid: (-(-N // 8), -(-M // 4), 2)
// block: (8, 4)
// shapes: (6, 9, 12)
// defect: // BUG
// kinds: race, wrong-values
// about: The lock is given back without a fence.

__device__ int locks[64];
__device__ int first[64];
__global__ void nolockfence(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int tile = blockIdx.y * gridDim.x + blockIdx.x, i = blockIdx.y * 4 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
    float s = 0;
    if (i < M && j < N) for (int k = blockIdx.z; k < K; k += 2) s += A[i * K + k] * B[k * N + j];
    bool t0 = threadIdx.x + threadIdx.y == 0;
    if (t0) while (atomicCAS(&locks[tile], 0, 1)) ;
    __syncthreads();
    if (i < M && j < N) {
        float old = first[tile] ? C[i * N + j] : beta == 0 ? 0 : beta * C[i * N + j];  // BUG: shows
        C[i * N + j] = alpha * s + old;  // BUG: shows
    }
    __syncthreads();
    if (t0) {
        first[tile] ^= 1;  // BUG: shows
        atomicExch(&locks[tile], 0);  // BUG
    }
}
