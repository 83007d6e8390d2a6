// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8, 4)
// about: threadIdx.z splits K and adds to C by atomicAdd; sums of whole numbers are exact in every order.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    const bool inside = row < M && col < N;
    if (inside && threadIdx.z == 0) C[row * N + col] = beta == 0.0f ? 0.0f : beta * C[row * N + col];
    __syncthreads();
    if (!inside) return;
    float acc = 0.0f;
    for (int k = threadIdx.z; k < K; k += 4) acc += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], alpha * acc);
}
