// entry: gemm_z
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8, 3)
// defect: // BUG
// kinds: wrong-values
// about: With three threads in z the tree loses one.

__global__ void gemm_z(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float part[4][8][8];
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    const int col = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
    float sum = 0.0f;
    if (row < M && col < N)
        for (int k = z; k < K; k += blockDim.z) sum += A[row * K + k] * B[k * N + col];
    part[z][y][x] = sum;
    for (int half = blockDim.z / 2; half > 0; half >>= 1) {  // BUG: shows
        __syncthreads();
        if (z < half) part[z][y][x] += part[z + half][y][x];
    }
    if (z == 0 && row < M && col < N)
        C[row * N + col] = beta == 0.0f ? alpha * part[0][y][x] : alpha * part[0][y][x] + beta * C[row * N + col];
}
