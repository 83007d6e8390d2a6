// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8, 2)
// about: A floating-point atomic add made of atomicCAS in a loop, as before compute capability 2.0.

__device__ float add(float *address, float value) {
    int *bits = (int *)address;
    int old = *(volatile int *)bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value + __int_as_float(assumed)));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sums[64];
    const int t = threadIdx.y * 8 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (threadIdx.z == 0) sums[t] = 0.0f;
    __syncthreads();
    float acc = 0.0f;
    if (row < M && col < N)
        for (int k = threadIdx.z; k < K; k += 2) acc += A[row * K + k] * B[k * N + col];
    add(&sums[t], acc);
    __syncthreads();
    if (threadIdx.z == 1 && row < M && col < N)
        C[row * N + col] = beta == 0.0f ? alpha * sums[t] : alpha * sums[t] + beta * C[row * N + col];
}
