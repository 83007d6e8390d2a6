// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: One thread writes what all read, and nobody waits.

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
        corner.row = blockIdx.y * 16;  // BUG: shows
        corner.col = blockIdx.x * 16;  // BUG: shows
        corner.rows = min(16, M - corner.row);  // BUG: shows
        corner.cols = min(16, N - corner.col);  // BUG: shows
    }
    const int row = corner.row + ty, col = corner.col + tx;  // BUG: shows
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
