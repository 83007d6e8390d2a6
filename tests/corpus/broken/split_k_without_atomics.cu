// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8, 4)
// defect: // BUG
// kinds: race, wrong-values
// about: Four layers add to the same element without atomicAdd.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    const bool inside = row < M && col < N;
    if (inside && threadIdx.z == 0) C[row * N + col] = beta == 0.0f ? 0.0f : beta * C[row * N + col];
    __syncthreads();
    if (!inside) return;
    float acc = 0.0f;
    for (int k = threadIdx.z; k < K; k += blockDim.z) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] += alpha * acc;  // BUG
}
