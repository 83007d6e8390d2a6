// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: Two pointers walk along a row and down a column; a countdown ends the loop.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    unsigned x = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned y = threadIdx.y + blockIdx.y * blockDim.y;
    if (!(x < N && y < M)) return;
    const float *a = A + y * K;
    const float *b = B + x;
    float acc = 0;
    int n = K;
    while (n--) {
        acc += *a++ * *b;
        b += N;
    }
    float *c = C + y * N + x;
    if (beta != 0)
        *c = alpha * acc + beta * *c;
    else
        *c = alpha * acc;
}
