// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: The multiply-add and the loads are inline PTX.

__device__ __forceinline__ float load(const float *p) {
    float v;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(acc) : "f"(load(&A[row * K + k])), "f"(load(&B[k * N + col])));
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
