__global__ void flat(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // The grid is one-dimensional and has half a thread for every element of C, rounded up to whole blocks. With T
    // threads in the grid, thread t computes C[t] and C[t + T]: the elements are counted along the rows.
    // ### BEGIN SOLUTION #error "About 10 lines: a loop over two elements; row and column, the sum, C[t] for each"
    const size_t T = (size_t)gridDim.x * blockDim.x;
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int n = 0; n < 2 && t < (size_t)M * N; ++n, t += T) {
        const size_t row = t / N, col = t % N;
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[(size_t)k * N + col];
        C[t] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[t];
    }
    // ### END SOLUTION
}
