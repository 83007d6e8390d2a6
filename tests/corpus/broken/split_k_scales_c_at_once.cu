// entry: betarace
// grid: (-(-N // 16), -(-M // 16), 2)
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: One block scales C while the other may already have added to it.

__global__ void betarace(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float *c = C + row * N + col;
    if (blockIdx.z == 0) *c = beta == 0 ? 0 : beta * *c;  // BUG
    __syncthreads();
    float s = 0;
    for (int k = blockIdx.z; k < K; k += 2) s += A[row * K + k] * B[k * N + col];
    atomicAdd(c, alpha * s);  // BUG: shows
}
