__global__ void rect(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int TX = 32, TY = 8, TK = 8;  // the block has TX x TY threads and computes TY rows and TX columns
    __shared__ float As[TY][TK];            // As[row in the block][k in the step]
    __shared__ float Bs[TK][TX];            // Bs[k in the step][column in the block]
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TY + ty, col = blockIdx.x * TX + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TK) {
        // ### BEGIN SOLUTION #error "1 of 2, about 6 lines: the threads bring both tiles, 0 beyond an edge"
        for (int i = ty * TX + tx; i < TY * TK; i += TX * TY) {
            const int r = blockIdx.y * TY + i / TK, k = k0 + i % TK;
            As[i / TK][i % TK] = r < M && k < K ? A[(size_t)r * K + k] : 0.0f;
        }
        for (int k = ty; k < TK; k += TY)
            Bs[k][tx] = k0 + k < K && col < N ? B[(size_t)(k0 + k) * N + col] : 0.0f;
        // ### END SOLUTION
        __syncthreads();
        // ### BEGIN SOLUTION #error "2 of 2, about 2 lines: the products of this step"
        for (int k = 0; k < TK; ++k)
            acc += As[ty][k] * Bs[k][tx];
        // ### END SOLUTION
        __syncthreads();
    }
    if (row < M && col < N) {
        float *c = C + (size_t)row * N + col;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}
