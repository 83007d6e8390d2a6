// entry: gemm
// grid: (-(-N // 8), -(-M // 4))
// block: (8, 4, 8)
// about: threadIdx.z splits K; the eight partial sums are added by a tree in shared memory.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float part[8][4][8];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int col = blockIdx.x * 8 + x, row = blockIdx.y * 4 + y;
    const bool inside = row < M && col < N;

    float acc = 0.0f;
    if (inside)
        for (int k = z; k < K; k += 8) acc += A[row * K + k] * B[k * N + col];
    part[z][y][x] = acc;
    __syncthreads();
    for (int half = 4; half > 0; half >>= 1) {
        if (z < half) part[z][y][x] += part[z + half][y][x];
        __syncthreads();
    }
    if (inside && z == 0) {
        float *c = C + row * N + col;
        *c = beta == 0.0f ? alpha * part[0][y][x] : alpha * part[0][y][x] + beta * *c;
    }
}
