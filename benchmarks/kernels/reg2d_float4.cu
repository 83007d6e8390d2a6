// entry: gemm
// grid: (-(-N // 64), -(-M // 64))
// block: 256
// about: 4 x 4 elements for a thread; float4 from and to global memory where rows allow it, and from both tiles.

__device__ float4 four(const float *X, int rows, int columns, int r, int c) {
    if (r < rows && c + 3 < columns && columns % 4 == 0) return *reinterpret_cast<const float4 *>(X + r * columns + c);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (r < rows && c < columns) v.x = X[r * columns + c];
    if (r < rows && c + 1 < columns) v.y = X[r * columns + c + 1];
    if (r < rows && c + 2 < columns) v.z = X[r * columns + c + 2];
    if (r < rows && c + 3 < columns) v.w = X[r * columns + c + 3];
    return v;
}

__global__ void __launch_bounds__(256)
gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float4 At[16][16];  // A's tile of 64 x 16, transposed: row k holds 64 words
    __shared__ float4 Bs[16][16];
    const int t = threadIdx.x, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64, ty = t / 16, tx = t % 16;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        const int r = t / 4, c = t % 4 * 4;
        const float4 a = four(A, M, K, row0 + r, k0 + c);
        float *at = reinterpret_cast<float *>(At);
        at[(c + 0) * 64 + r] = a.x;
        at[(c + 1) * 64 + r] = a.y;
        at[(c + 2) * 64 + r] = a.z;
        at[(c + 3) * 64 + r] = a.w;
        Bs[ty][tx] = four(B, K, N, k0 + ty, col0 + 4 * tx);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            const float4 x = At[k][ty], y = Bs[k][tx];
            const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int e = 0; e < 16; ++e) acc[e / 4][e % 4] += xs[e / 4] * ys[e % 4];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + 4 * ty + i, col = col0 + 4 * tx;
        if (row >= M || col >= N) continue;
        float *c = C + row * N + col;
        if (N % 4 == 0 && beta == 0.0f)
            *reinterpret_cast<float4 *>(c) = make_float4(alpha * acc[i][0], alpha * acc[i][1], alpha * acc[i][2],
                                                         alpha * acc[i][3]);
        else
#pragma unroll
            for (int j = 0; j < 4; ++j)
                if (col + j < N) c[j] = beta == 0.0f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * c[j];
    }
}
