// entry: gemm
// grid: (-(-N // 16), -(-M // 16), 3)
// block: (16, 16)
// shapes: (1, 1, 1), (33, 32, 40), (50, 35, 70)
// defect: // BUG
// kinds: race, wrong-values
// about: The ticket is drawn before all threads have stored their part.

#define SPLITS 3
#define MAX_TILES 64

__device__ volatile float partial[SPLITS][MAX_TILES][256];
__device__ unsigned int arrived[MAX_TILES];

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ bool last;
    const int t = threadIdx.y * 16 + threadIdx.x, tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    const int chunk = (K + SPLITS - 1) / SPLITS, first = blockIdx.z * chunk, end = min(K, first + chunk);

    float acc = 0.0f;
    if (row < M && col < N)
        for (int k = first; k < end; ++k) acc += A[row * K + k] * B[k * N + col];
    partial[blockIdx.z][tile][t] = acc;  // BUG: shows
    __threadfence();
    if (t == 0) last = atomicInc(&arrived[tile], SPLITS - 1) == SPLITS - 1;  // wraps around to 0 for the next launch  // BUG: shows
    __syncthreads();

    if (last && row < M && col < N) {
        __threadfence();
        float sum = 0.0f;
        for (int z = 0; z < SPLITS; ++z) sum += partial[z][tile][t];  // BUG: shows
        C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
    }
}
