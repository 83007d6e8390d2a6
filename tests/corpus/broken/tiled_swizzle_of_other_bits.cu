// entry: halfswz
// grid: (-(-N // 32), -(-M // 32))
// block: (32, 8)
// defect: // BUG
// kinds: wrong-values
// about: Stored with one swizzle and read with another.

__global__ void halfswz(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float At[32][32], Bs[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    float acc[4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int i = y; i < 32; i += 8) {
            int m = blockIdx.y * 32 + i, n = blockIdx.x * 32 + x;
            At[x][i ^ (x >> 3)] = m < M && k0 + x < K ? A[m * K + k0 + x] : 0;
            Bs[i][x] = n < N && k0 + i < K ? B[(k0 + i) * N + n] : 0;
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            for (int i = 0; i < 4; ++i) acc[i] += At[k][(y * 4 + i) ^ (k & 3)] * Bs[k][x];  // BUG
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        int m = blockIdx.y * 32 + y * 4 + i, n = blockIdx.x * 32 + x;
        if (m < M && n < N) C[m * N + n] = alpha * acc[i] + (beta == 0 ? 0 : beta * C[m * N + n]);
    }
}
