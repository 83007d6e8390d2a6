// entry: gemm
// grid: (-(-N // 32), -(-M // 32))
// block: (8, 8)
// about: float4 fragments multiplied by a macro for each row; a union gives the results as an array for the store.

#define AXPY(acc, s, v)      \
    do {                     \
        (acc).x += (s) * (v).x; \
        (acc).y += (s) * (v).y; \
        (acc).z += (s) * (v).z; \
        (acc).w += (s) * (v).w; \
    } while (0)

union Quad {
    float4 v;
    float f[4];
};

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) float At[8][32];
    __shared__ __align__(16) float Bs[8][32];
    const int t = threadIdx.y * 8 + threadIdx.x, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    Quad c0 = {}, c1 = {}, c2 = {}, c3 = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int i = t; i < 8 * 32; i += 64) {
            const int r = i / 8, k = i % 8;
            At[k][r] = row0 + r < M && k0 + k < K ? A[(row0 + r) * K + k0 + k] : 0.0f;
        }
        for (int i = t; i < 8 * 32; i += 64) {
            const int k = i / 32, c = i % 32;
            Bs[k][c] = k0 + k < K && col0 + c < N ? B[(k0 + k) * N + col0 + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const float4 a = *(const float4 *)&At[k][threadIdx.y * 4];
            const float4 b = *(const float4 *)&Bs[k][threadIdx.x * 4];
            AXPY(c0.v, a.x, b);
            AXPY(c1.v, a.y, b);
            AXPY(c2.v, a.z, b);
            AXPY(c3.v, a.w, b);
        }
        __syncthreads();
    }
    const Quad acc[4] = {c0, c1, c2, c3};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int row = row0 + threadIdx.y * 4 + i, col = col0 + threadIdx.x * 4 + j;
            if (row < M && col < N)
                C[row * N + col] = beta == 0.0f ? alpha * acc[i].f[j] : alpha * acc[i].f[j] + beta * C[row * N + col];
        }
}
