// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: 256
// about: The pointers move on by a tile in every turn, and a countdown of what is left of K guards them.

#define TILE 16

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[TILE * TILE];
    __shared__ float Bs[TILE * TILE];
    const unsigned int y = threadIdx.x / TILE, x = threadIdx.x % TILE;
    const bool rowIn = blockIdx.y * TILE + y < M, colIn = blockIdx.x * TILE + x < N;
    A += blockIdx.y * TILE * K;
    B += blockIdx.x * TILE;
    C += blockIdx.y * TILE * N + blockIdx.x * TILE;
    float tmp = 0.0f;
    for (int left = K; left > 0; left -= TILE) {
        As[y * TILE + x] = rowIn && (int)x < left ? A[y * K + x] : 0.0f;
        Bs[y * TILE + x] = colIn && (int)y < left ? B[y * N + x] : 0.0f;
        __syncthreads();
        A += TILE;
        B += TILE * N;
        for (int dot = 0; dot < TILE; ++dot) tmp += As[y * TILE + dot] * Bs[dot * TILE + x];
        __syncthreads();
    }
    if (rowIn && colIn) C[y * N + x] = alpha * tmp + (beta == 0.0f ? 0.0f : beta * C[y * N + x]);
}
