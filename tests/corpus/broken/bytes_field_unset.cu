// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: A field of the struct is set only inside.

struct Cell {
    unsigned char k;
    float a, b;
    short pad;
};

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ Cell cells[16][16];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    unsigned char order[16];
    short twice[16];
    for (int i = 0; i < 16; ++i) {
        order[i] = i;
        twice[i] = 2 * i;
    }
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        Cell cell;
        cell.k = k0 + x < 256 ? k0 + x : 255;
        cell.a = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
        if (k0 + y < K && col < N) cell.b = B[(k0 + y) * N + col];  // BUG
        cells[y][x] = cell;  // BUG: shows
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            const Cell left = cells[y][order[k]], below = cells[twice[k] / 2][x];  // BUG: shows
            acc += left.a * below.b;  // BUG: shows
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
