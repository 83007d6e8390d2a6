// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Both tiles are members of one struct in shared memory, and the bounds are in another that one thread fills.

struct Tiles {
    float a[16][16];
    float b[16][16 + 1];
};

struct Corner {
    int row, col;
    short rows, cols;
};

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ Tiles tiles;
    __shared__ Corner corner;
    const int tx = threadIdx.x, ty = threadIdx.y;
    if (tx == 0 && ty == 0) {
        corner.row = blockIdx.y * 16;
        corner.col = blockIdx.x * 16;
        corner.rows = min(16, M - corner.row);
        corner.cols = min(16, N - corner.col);
    }
    __syncthreads();
    const int row = corner.row + ty, col = corner.col + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        tiles.a[ty][tx] = ty < corner.rows && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        tiles.b[ty][tx] = k0 + ty < K && tx < corner.cols ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += tiles.a[ty][k] * tiles.b[k][tx];
        __syncthreads();
    }
    if (ty < corner.rows && tx < corner.cols)
        C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
