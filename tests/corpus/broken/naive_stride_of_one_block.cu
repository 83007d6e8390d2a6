// entry: stride
// grid: 3
// block: 64
// defect: // BUG
// kinds: race, wrong-values
// about: The stride leaves out the number of blocks: all do everything.

__global__ void stride(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < M * N; e += blockDim.x) {  // BUG
        int i = e / N, j = e % N;
        float s = 0;
        for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
        C[e] = alpha * s + (beta == 0 ? 0 : beta * C[e]);  // BUG: shows
    }
}
