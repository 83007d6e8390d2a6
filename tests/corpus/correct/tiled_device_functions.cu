// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Loading and multiplying are functions on pointers to shared rows; one of them holds the barrier.

constexpr int T = 16;
using Tile = float[T][T];

__device__ void load_tile(Tile &tile, const float *X, int rows, int cols, int row0, int col0) {
    const int r = row0 + threadIdx.y, c = col0 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = r < rows && c < cols ? X[r * cols + c] : 0.0f;
}

__device__ __noinline__ float multiply(const float (*As)[T], const float (*Bs)[T]) {
    float acc = 0.0f;
    for (int k = 0; k < T; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    return acc;
}

__device__ __forceinline__ void wait_for_all() { __syncthreads(); }

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ Tile As, Bs;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        load_tile(As, A, M, K, blockIdx.y * T, k0);
        load_tile(Bs, B, K, N, k0, blockIdx.x * T);
        wait_for_all();
        acc += multiply(As, Bs);
        wait_for_all();
    }
    const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
