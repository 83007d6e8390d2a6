// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: An offset in bytes is added to a pointer to float.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    unsigned x = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned y = threadIdx.y + blockIdx.y * blockDim.y;
    if (!(x < N && y < M)) return;
    const float *a = A + y * K * sizeof(float);  // BUG
    const float *b = B + x;
    float acc = 0;
    int n = K;
    while (n--) {
        acc += *a++ * *b;  // BUG: shows
        b += N;
    }
    float *c = C + y * N + x;
    if (beta != 0)
        *c = alpha * acc + beta * *c;
    else
        *c = alpha * acc;
}
