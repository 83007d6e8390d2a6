// entry: gemm_kernel<16>
// grid: (-(-N // 16), -(-M // 16))
// block: 256
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The tiles are not shared.

template <class T, int ROWS, int COLS>
struct Tile {
    T data[ROWS][COLS];
    __device__ T &operator()(int r, int c) { return data[r][c]; }  // BUG: shows
};

struct View {
    const float *data;
    int rows, cols;
    __device__ float operator()(int r, int c) const { return r < rows && c < cols ? data[r * cols + c] : 0.0f; }
};

template <int T>
__global__ void gemm_kernel(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    Tile<float, T, T> a, b;  // BUG
    const View va{A, M, K}, vb{B, K, N};
    const int i = threadIdx.x / T, j = threadIdx.x % T;
    const int row = blockIdx.y * T + i, col = blockIdx.x * T + j;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        a(i, j) = va(row, k0 + j);
        b(i, j) = vb(k0 + i, col);
        __syncthreads();
        for (int k = 0; k < T; ++k) sum += a(i, k) * b(k, j);  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) {
        float &c = C[row * N + col];
        c = alpha * sum + (beta == 0 ? 0.0f : beta * c);
    }
}
