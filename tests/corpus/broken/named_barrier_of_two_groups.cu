// entry: sameid
// grid: (-(-N // 8), -(-M // 16))
// block: 128
// defect: // BUG
// kinds: barrier-divergence
// about: Two groups of threads use one barrier, which opens for the first that come.

__global__ void sameid(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][8][8], Bs[2][8][8];
    int g = threadIdx.x / 64, t = threadIdx.x % 64, x = t % 8, y = t / 8;
    int row = blockIdx.y * 16 + g * 8 + y, col = blockIdx.x * 8 + x;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += 8) {
        As[g][y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.f;  // BUG: shows
        Bs[g][y][x] = col < N && k0 + y < K ? B[(k0 + y) * N + col] : 0.f;  // BUG: shows
        asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG
        for (int k = 0; k < 8; ++k) acc += As[g][y][k] * Bs[g][k][x];  // BUG: shows
        asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG: shows
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
