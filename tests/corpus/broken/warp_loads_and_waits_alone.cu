// entry: onewarp
// grid: (-(-N // 32), -(-M // 2))
// block: (32, 2)
// defect: // BUG
// kinds: race, barrier-divergence, uninitialized, wrong-values
// about: Only the warp that loads comes to the first barrier.

__global__ void onewarp(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[2][32];
    int lane = threadIdx.x, w = threadIdx.y, row = blockIdx.y * 2 + w, col = blockIdx.x * 32 + lane;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        if (w == 0) {
            for (int r = 0; r < 2; ++r)
                a[r][lane] = blockIdx.y * 2 + r < M && k0 + lane < K ? A[(blockIdx.y * 2 + r) * K + k0 + lane] : 0;  // BUG: shows
            __syncthreads();  // BUG
        }
        for (int k = 0; k < 32 && k0 + k < K; ++k) acc += a[w][k] * (col < N ? B[(k0 + k) * N + col] : 0);  // BUG: shows
        __syncthreads();  // BUG: shows
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
