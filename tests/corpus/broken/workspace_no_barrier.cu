// entry: gemm_split
// grid: (-(-N // 8), -(-M // 8), 4)
// block: (8, 8)
// shapes: (1, 1, 1), (19, 18, 37)
// defect: // BUG
// kinds: race, wrong-values
// about: The ticket is taken before the other threads have left their parts.

constexpr int PARTS = 4, MAX_OUTPUTS = 32 * 32;
__device__ float workspace[PARTS][MAX_OUTPUTS];
__device__ int tickets[16];

__global__ void gemm_split(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int col = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y, part = blockIdx.z;
    const int begin = K * part / PARTS, end = K * (part + 1) / PARTS;
    const bool inside = row < M && col < N;
    float sum = 0;
    if (inside) {
        for (int k = begin; k < end; ++k) sum += A[row * K + k] * B[k * N + col];
        workspace[part][row * N + col] = sum;  // BUG: shows
    }
    // BUG: missing
    __shared__ bool is_last;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence();
        const int ticket = atomicAdd(&tickets[blockIdx.y * gridDim.x + blockIdx.x], 1);
        is_last = ticket == PARTS - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && inside) {
        float total = 0;
        for (int p = 0; p < PARTS; ++p) total += *(volatile float *)&workspace[p][row * N + col];  // BUG: shows
        float *out = C + row * N + col;
        *out = alpha * total + (beta != 0 ? beta * *out : 0);
    }
}
