__global__ void turn(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int T = 16;
    // ### BEGIN SOLUTION #error "1 of 2, 1 line: constexpr int WIDTH, the floats in a row of As, no more than needed"
    constexpr int WIDTH = T + 2;
    // ### END SOLUTION
    __shared__ float As[T][WIDTH];  // transposed: As[k in the step][row in the block]
    __shared__ float Bs[T][T];
    static_assert(WIDTH <= T + 4, "a row of As may have at most 4 floats that are not used");
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        const float a = row < M && k0 + tx < K ? A[(size_t)row * K + k0 + tx] : 0.0f;
        // ### BEGIN SOLUTION #error "2 of 2, 1 line: a goes into As, transposed"
        As[tx][ty] = a;
        // ### END SOLUTION
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(size_t)(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k)
            acc += As[k][ty] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) {
        float *c = C + (size_t)row * N + col;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}
