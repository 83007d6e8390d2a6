// entry: bytes
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shared_bytes: 2 * 1024
// defect: // BUG
// kinds: race, wrong-values
// about: An offset in bytes for one in words: the tiles overlap.

__global__ void bytes(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    extern __shared__ char raw[];
    float *As = (float *)raw, *Bs = (float *)(raw + 16 * 16);  // BUG
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty * 16 + tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;  // BUG: shows
        Bs[ty * 16 + tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;  // BUG: shows
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += As[ty * 16 + k] * Bs[k * 16 + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
