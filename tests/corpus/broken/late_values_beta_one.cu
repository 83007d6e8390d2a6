// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: The old value is used at beta = 0, too.

__device__ void split(int t, int width, int *row, int *col) {
    *row = t / width;
    *col = t % width;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int row, col, r, c;
    split(threadIdx.y * 16 + threadIdx.x, 16, &r, &c);
    row = blockIdx.y * 16 + r;
    col = blockIdx.x * 16 + c;
    if (row >= M || col >= N) return;
    float old;
    if (beta != 0) old = C[row * N + col];
    float acc;
    bool first = true;
    for (int k = 0; k < K; ++k) {
        float product;
        switch (k % 2) {
        case 0: product = A[row * K + k] * B[k * N + col]; break;
        default: product = B[k * N + col] * A[row * K + k];
        }
        if (first) acc = product;
        else acc += product;
        first = false;
    }
    float result;
    result = alpha * acc + beta * old;  // BUG: shows
    C[row * N + col] = result;  // BUG: shows
}
