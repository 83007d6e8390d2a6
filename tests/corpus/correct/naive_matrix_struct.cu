// entry: linalg::gemm<linalg::View>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: A view with operator(), in a namespace, chosen by a template parameter.

namespace linalg {

struct View {
    const float *data;
    int rows, cols;
    __device__ View(const float *d, int r, int c) : data(d), rows(r), cols(c) {}
    __device__ float operator()(int r, int c) const { return data[r * cols + c]; }
    __device__ bool has(int r, int c) const { return r < rows && c < cols; }
};

template <class Matrix>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const Matrix a(A, M, K), b(B, K, N), c(C, M, N);
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (!c.has(row, col)) return;
    float acc = 0.0f;
    for (int k = 0; k < a.cols; ++k) acc += a(row, k) * b(k, col);
    C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * c(row, col);
}

}  // namespace linalg
