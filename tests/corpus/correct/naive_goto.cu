// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: A loop made of goto, and a result that leaves through one exit.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float acc = 0.0f;
    int k = 0;
    if (row >= M || col >= N) goto done;
again:
    acc += A[row * K + k] * B[k * N + col];
    if (++k < K) goto again;
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
done:
    return;
}
