// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: Beyond an edge the first word of the matrix is copied instead of zeros.

#define T 16

__device__ __forceinline__ void copy_async(float *to, const float *from, bool valid) {
    unsigned dst = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int bytes = 4;  // BUG
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(dst), "l"(from), "r"(bytes) : "memory");
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[T][T], Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const bool a_in = row < M && k0 + tx < K, b_in = k0 + ty < K && col < N;
        copy_async(&As[ty][tx], a_in ? &A[row * K + k0 + tx] : A, a_in);
        copy_async(&Bs[ty][tx], b_in ? &B[(k0 + ty) * N + col] : B, b_in);
        asm volatile("cp.async.commit_group;\n" ::: "memory");
        asm volatile("cp.async.wait_group 0;\n" ::: "memory");
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
