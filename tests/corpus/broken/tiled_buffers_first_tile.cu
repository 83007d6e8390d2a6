// entry: prologue
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, uninitialized, wrong-values
// about: No barrier after the first tile is stored.

struct Stage { float a[16][16]; float b[16][16]; };
__global__ void prologue(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ Stage st[2];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    st[0].a[ty][tx] = row < M && tx < K ? A[row * K + tx] : 0;  // BUG: shows
    st[0].b[ty][tx] = col < N && ty < K ? B[ty * N + col] : 0;  // BUG: missing
    float acc = 0;
    int cur = 0;
    for (int k0 = 0; k0 < K; k0 += 16, cur ^= 1) {
        if (k0 + 16 < K) {
            int k1 = k0 + 16;
            st[cur ^ 1].a[ty][tx] = row < M && k1 + tx < K ? A[row * K + k1 + tx] : 0;
            st[cur ^ 1].b[ty][tx] = col < N && k1 + ty < K ? B[(k1 + ty) * N + col] : 0;
        }
        for (int k = 0; k < 16; ++k) acc += st[cur].a[ty][k] * st[cur].b[k][tx];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
}
