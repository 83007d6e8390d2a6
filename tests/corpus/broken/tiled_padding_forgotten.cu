// entry: gemm<8>
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8)
// shared_bytes: 2 * 8 * 8 * 4
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The padded tile needs more bytes than the launch gives.

extern __shared__ __align__(16) unsigned char pool[];

template <int T>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    float(*As)[T] = reinterpret_cast<float(*)[T]>(pool);
    float(*Bs)[T + 1] = reinterpret_cast<float(*)[T + 1]>(pool + T * T * sizeof(float));  // BUG: shows
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;  // BUG: shows
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
