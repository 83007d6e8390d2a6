// entry: onefence
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// shapes: (20, 18, 20)
// about: After a barrier one thread fences for the whole block.

__device__ float slab[2 * 48 * 48];
__device__ unsigned seen[16];
__global__ void onefence(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x, z = blockIdx.z;
    bool in = row < M && col < N, t0 = threadIdx.x == 0 && threadIdx.y == 0;
    if (in) {
        float s = 0;
        for (int k = z; k < K; k += 2) s += A[row * K + k] * B[k * N + col];
        slab[(z * M + row) * N + col] = s;
    }
    __shared__ int last;
    __syncthreads();
    if (t0) {  // the barrier brought the others' stores before this fence
        __threadfence();
        last = atomicInc(&seen[blockIdx.y * gridDim.x + blockIdx.x], 1) == 1;
        __threadfence();
    }
    __syncthreads();
    if (last && in) {
        float s = slab[row * N + col] + slab[(M + row) * N + col];
        C[row * N + col] = alpha * s + (beta == 0 ? 0 : beta * C[row * N + col]);
    }
}
