// entry: gemm<16>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: The sums read the buffer that is being filled.

template <int T>
__device__ void fetch(float (&As)[T][T], float (&Bs)[T][T], int M, int N, int K, const float *A, const float *B,
                      int row, int col, int k0) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    As[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;  // BUG: shows
    Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;  // BUG: shows
}

template <int T>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float acc = 0.0f;
    int now = 0;
    fetch<T>(As[now], Bs[now], M, N, K, A, B, row, col, 0);
    __syncthreads();
    for (int k0 = 0; k0 < K; k0 += T) {
        if (k0 + T < K) fetch<T>(As[now ^ 1], Bs[now ^ 1], M, N, K, A, B, row, col, k0 + T);
#pragma unroll
        for (int k = 0; k < T; ++k) acc += As[now ^ 1][threadIdx.y][k] * Bs[now ^ 1][k][threadIdx.x];  // BUG
        __syncthreads();
        now ^= 1;
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
