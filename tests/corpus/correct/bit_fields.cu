// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: 256
// about: Not a bug: bit fields of a struct without first value are set one after the other.

struct Place {
    unsigned row : 10, col : 10;
    bool inside : 1;
};

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    Place p;
    p.row = blockIdx.y * 16 + threadIdx.x / 16;
    p.col = blockIdx.x * 16 + threadIdx.x % 16;
    p.inside = p.row < M && p.col < N;
    if (!p.inside) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[p.row * K + k] * B[k * N + p.col];
    C[p.row * N + p.col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[p.row * N + p.col];
}
