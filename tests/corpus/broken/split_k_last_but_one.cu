// entry: splitk
// grid: (-(-N // 16), -(-M // 16), 3)
// block: (16, 16)
// shapes: (20, 35, 50)
// defect: // BUG
// kinds: race, wrong-values
// about: The last block but one adds up.

__device__ float partial[3][64 * 64];
__device__ unsigned int arrived[64];
__global__ void splitk(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    int chunk = (K + gridDim.z - 1) / gridDim.z;
    int k0 = blockIdx.z * chunk, k1 = min(K, k0 + chunk);
    bool inside = row < M && col < N;
    if (inside) {
        float s = 0;
        for (int k = k0; k < k1; ++k) s += A[row * K + k] * B[k * N + col];
        partial[blockIdx.z][row * N + col] = s;  // BUG: shows
    }
    __threadfence();
    __syncthreads();
    __shared__ bool last;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        unsigned int n = atomicInc(&arrived[blockIdx.y * gridDim.x + blockIdx.x], gridDim.z - 1);
        last = (n == gridDim.z - 2);  // BUG
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (inside) {
        float s = 0;
        for (int z = 0; z < gridDim.z; ++z) s += ((volatile float *)partial[z])[row * N + col];  // BUG: shows
        s *= alpha;
        if (beta != 0) s += beta * C[row * N + col];
        C[row * N + col] = s;
    }
}
