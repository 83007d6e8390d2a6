// entry: chunk3
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16, 3)
// defect: // BUG
// kinds: wrong-values
// about: K is divided by three, and what remains is left out.

__global__ void chunk3(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float part[3][16][16];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    int chunk = K / 3;  // BUG
    float s = 0;
    if (i < M && j < N) for (int k = z * chunk; k < (z + 1) * chunk; ++k) s += A[i * K + k] * B[k * N + j];
    part[z][y][x] = s;
    __syncthreads();
    if (z == 0 && i < M && j < N) {
        s = part[0][y][x] + part[1][y][x] + part[2][y][x];
        C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
    }
}
