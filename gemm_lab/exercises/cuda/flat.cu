__global__ void flat(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // The grid is one-dimensional and has a thread for every element of C. Thread t of the grid computes C[t]: the
    // elements are counted along the rows.
    // ### BEGIN SOLUTION #error "About 8 lines: t, its row and column, the sum, C[t]; nothing beyond the last element"
    const size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= (size_t)M * N) return;
    const size_t row = t / N, col = t % N;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[row * K + k] * B[(size_t)k * N + col];
    C[t] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[t];
    // ### END SOLUTION
}
