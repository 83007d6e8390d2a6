// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 8)
// defect: // BUG
// kinds: assertion
// about: An assertion that does not hold for every K.

#include <assert.h>

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    assert(M > 0 && N > 0 && K > 0);
    assert(K % 16 == 0);  // BUG
    assert(A != nullptr && B != nullptr && C != nullptr);
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        assert(row * K + k < M * K);
        acc += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
