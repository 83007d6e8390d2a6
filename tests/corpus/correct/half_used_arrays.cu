// entry: gemm
// grid: (-(-N // 16), -(-M // 8))
// block: (16, 2)
// about: Not a bug: local arrays and structs are copied whole, but only the parts with a value are used.

struct Rows {
    float sum[8];
    int count;
    float unused;
};

__device__ Rows empty(int count) {
    Rows rows;
    rows.count = count;
    for (int i = 0; i < count; ++i) rows.sum[i] = 0.0f;
    return rows;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int col = blockIdx.x * 16 + threadIdx.x, row0 = (blockIdx.y * 2 + threadIdx.y) * 4;
    if (col >= N || row0 >= M) return;
    Rows rows = empty(min(4, M - row0)), copy;
    float4 b;
    for (int k = 0; k < K; ++k) {
        b.x = B[k * N + col];
        const float4 again = b;
        for (int i = 0; i < rows.count; ++i) rows.sum[i] += A[(row0 + i) * K + k] * again.x;
    }
    copy = rows;
    for (int i = 0; i < copy.count; ++i) {
        float *c = &C[(row0 + i) * N + col];
        *c = beta == 0.0f ? alpha * copy.sum[i] : alpha * copy.sum[i] + beta * *c;
    }
}
