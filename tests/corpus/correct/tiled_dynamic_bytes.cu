// entry: gemm<8>
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8)
// shared_bytes: 8 * 8 * 4 + 8 * 9 * 4
// about: Dynamic shared memory as bytes, cut into two tiles by reinterpret_cast to a pointer to rows.

extern __shared__ __align__(16) unsigned char pool[];

template <int T>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float(*As)[T] = reinterpret_cast<float(*)[T]>(pool);
    float(*Bs)[T + 1] = reinterpret_cast<float(*)[T + 1]>(pool + T * T * sizeof(float));
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
