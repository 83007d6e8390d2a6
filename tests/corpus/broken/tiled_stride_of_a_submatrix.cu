// entry: MatMulKernel
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: wrong-values
// about: A sub-matrix has its parent's stride, not its own width.

#define BLOCK_SIZE 16

typedef struct {
    int width, height, stride;
    float *elements;
} Matrix;

__device__ float GetElement(const Matrix A, int row, int col) {
    return row < A.height && col < A.width ? A.elements[row * A.stride + col] : 0.0f;
}

__device__ Matrix GetSubMatrix(Matrix A, int row, int col) {
    Matrix sub;
    sub.width = max(0, A.width - col * BLOCK_SIZE);
    sub.height = max(0, A.height - row * BLOCK_SIZE);
    sub.stride = sub.width;  // BUG
    sub.elements = &A.elements[A.stride * BLOCK_SIZE * row + BLOCK_SIZE * col];
    return sub;
}

__global__ void MatMulKernel(int M, int N, int K, float alpha, const float *pA, const float *pB, float beta,
                             float *pC) {
    Matrix A = {K, M, K, (float *)pA}, B = {N, K, N, (float *)pB}, C = {N, M, N, pC};
    int blockRow = blockIdx.y, blockCol = blockIdx.x;
    Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
    float Cvalue = 0;
    int row = threadIdx.y, col = threadIdx.x;
    for (int m = 0; m < (A.width + BLOCK_SIZE - 1) / BLOCK_SIZE; ++m) {
        Matrix Asub = GetSubMatrix(A, blockRow, m);
        Matrix Bsub = GetSubMatrix(B, m, blockCol);
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[row][col] = GetElement(Asub, row, col);
        Bs[row][col] = GetElement(Bsub, row, col);
        __syncthreads();
        for (int e = 0; e < BLOCK_SIZE; ++e) Cvalue += As[row][e] * Bs[e][col];
        __syncthreads();
    }
    if (row < Csub.height && col < Csub.width) {
        float *c = &Csub.elements[row * Csub.stride + col];
        *c = beta == 0 ? alpha * Cvalue : alpha * Cvalue + beta * *c;
    }
}
