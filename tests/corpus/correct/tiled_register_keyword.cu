// entry: unrolled
// grid: (-(-N // 32), -(-M // 16))
// block: (16, 16)
// shapes: (17, 34, 18)
// about: The `register` of old tutorials, float2 and a macro for each step.

#define IDX(r, c, ld) ((r) * (ld) + (c))
#define LD2(p) (*(const float2 *)(p))
#define STEP(kk) { float a = As[threadIdx.y][kk]; float2 b = LD2(&Bs[kk][2 * threadIdx.x]); c0 += a * b.x; c1 += a * b.y; }
__global__ void unrolled(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][8];
    __shared__ __align__(8) float Bs[8][32];
    register float c0 = 0, c1 = 0;
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x * 2;
    for (int k0 = 0; k0 < K; k0 += 8) {
        if (threadIdx.x < 8)
            As[threadIdx.y][threadIdx.x] = (row < M && k0 + threadIdx.x < K) ? A[IDX(row, k0 + threadIdx.x, K)] : 0;
        if (threadIdx.y < 8) {
            float2 v = make_float2(0, 0);
            if (k0 + threadIdx.y < K && col < N) v = LD2(&B[IDX(k0 + threadIdx.y, col, N)]);   // N is even
            *(float2 *)&Bs[threadIdx.y][2 * threadIdx.x] = v;
        }
        __syncthreads();
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
        __syncthreads();
    }
    if (row < M && col < N) {
        float2 *out = (float2 *)&C[IDX(row, col, N)];
        float2 o = make_float2(0, 0);
        if (beta != 0) o = *out;
        o.x = alpha * c0 + beta * o.x;
        o.y = alpha * c1 + beta * o.y;
        *out = o;
    }
}
