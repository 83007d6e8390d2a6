// entry: gemm
// grid: (-(-N // 16), -(-M // 16), 4)
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: Four blocks add their part of K to the same element of C without atomics.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= M || col >= N) return;
    float part = 0.0f;
    for (int k = blockIdx.z; k < K; k += gridDim.z) part += A[row * K + k] * B[k * N + col];
    if (blockIdx.z == 0 && beta == 0.0f)
        C[row * N + col] = alpha * part;  // BUG
    else if (blockIdx.z == 0)
        C[row * N + col] = alpha * part + beta * C[row * N + col];  // BUG
    else
        C[row * N + col] += alpha * part;  // BUG
}
