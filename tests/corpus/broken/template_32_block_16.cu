// entry: tmpl<32>
// grid: (-(-N // 32), -(-M // 32))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The template is told of 32 threads where the block has 16.

template <int T>
__global__ void tmpl(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[T][T], Bs[T][T];  // BUG
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
        Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
