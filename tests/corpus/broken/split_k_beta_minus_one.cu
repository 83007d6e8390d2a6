// entry: bm1
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: One block corrects for beta while the other adds; and C is read at beta = 0.

__global__ void bm1(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = blockIdx.z; k < K; k += 2) s += alpha * A[row * K + k] * B[k * N + col];
    if (blockIdx.z == 0) s += (beta - 1) * C[row * N + col];  // BUG
    atomicAdd(&C[row * N + col], s);  // BUG: shows
}
