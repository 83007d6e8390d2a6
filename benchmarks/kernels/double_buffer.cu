// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Two buffers for each tile, one barrier a round; the next tile is fetched into registers before the sums.

constexpr int T = 16;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    As[0][ty][tx] = row < M && tx < K ? A[row * K + tx] : 0.0f;
    Bs[0][ty][tx] = ty < K && col < N ? B[ty * N + col] : 0.0f;
    __syncthreads();
    float acc = 0.0f;
    int now = 0;
    for (int k0 = 0; k0 < K; k0 += T, now ^= 1) {
        const int next = k0 + T;
        const float a = row < M && next + tx < K ? A[row * K + next + tx] : 0.0f;
        const float b = next + ty < K && col < N ? B[(next + ty) * N + col] : 0.0f;
        for (int k = 0; k < T; ++k) acc += As[now][ty][k] * Bs[now][k][tx];
        As[now ^ 1][ty][tx] = a;
        Bs[now ^ 1][ty][tx] = b;
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
