// entry: sgemm_naive
// grid: (-(-M // 32), -(-N // 32))
// block: (32, 32)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: Every result is stored one word too far.

typedef unsigned int uint32;

__global__ void sgemm_naive(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const uint32 x = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32 y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < M && y < N) {
        float tmp = 0.0;
        for (int i = 0; i < K; ++i) {
            tmp += A[x * K + i] * B[i * N + y];
        }
        C[x * N + y + 1] = alpha * tmp + (beta == 0.0f ? 0.0f : beta * C[x * N + y]);  // BUG
    }
}
