// entry: k
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// shapes: default
// defect: // BUG
// kinds: out-of-bounds
// about: The number of an element of C does not fit into a short.

extern "C" __global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    short at = row * N + col;  // BUG
    float sum = 0.0f;
    for (int i = 0; i < K; ++i)
        sum += A[row * K + i] * B[i * N + col];
    if (beta == 0.0f)
        C[at] = alpha * sum;  // BUG
    else
        C[at] = alpha * sum + beta * C[at];  // BUG
}
