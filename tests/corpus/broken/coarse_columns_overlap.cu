// entry: overlap
// grid: (-(-N // 32), -(-M // 8))
// block: (16, 8)
// defect: // BUG
// kinds: race, wrong-values
// about: The second column of a thread is the first of another.

__global__ void overlap(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * 32 + threadIdx.x;
    for (int c = 0; c < 2; ++c) {
        int jj = j + c * 8;  // BUG
        if (i < M && jj < N) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + jj];
            C[i * N + jj] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + jj]);  // BUG: shows
        }
    }
}
