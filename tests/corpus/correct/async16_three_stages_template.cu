// entry: cp3<3>
// grid: (-(-N // 32), -(-M // 32))
// block: 256
// shapes: (36, 40, 28)
// about: Three stages of 16-byte copies, with the size 0 beyond an edge and one barrier for each tile.

__device__ __forceinline__ void cp16(void *dst, const void *src, bool ok) {
    unsigned d = static_cast<unsigned>(__cvta_generic_to_shared(dst));
    int n = ok ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(d), "l"(src), "r"(n));
}
template <int S>
__global__ void __launch_bounds__(256) cp3(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) float As[S][32][16];
    __shared__ __align__(16) float Bs[S][16][32];
    const int tid = threadIdx.x;
    const int nt = (K + 15) / 16;
    auto issue = [&](int t) {
        const int s = t % S;
        if (t < nt) {
            if (tid < 128) {
                int r = tid / 4, c = (tid % 4) * 4;
                int gr = blockIdx.y * 32 + r, gc = t * 16 + c;
                bool ok = gr < M && gc < K;
                cp16(&As[s][r][c], ok ? A + (size_t)gr * K + gc : A, ok);
            } else {
                int i = tid - 128;
                int r = i / 8, c = (i % 8) * 4;
                int gr = t * 16 + r, gc = blockIdx.x * 32 + c;
                bool ok = gr < K && gc < N;
                cp16(&Bs[s][r][c], ok ? B + (size_t)gr * N + gc : B, ok);
            }
        }
        asm volatile("cp.async.commit_group;\n" ::);
    };
    for (int i = 0; i < S - 1; ++i) issue(i);
    float acc[2][2] = {};
    const int y = tid / 16, x = tid % 16;
    for (int t = 0; t < nt; ++t) {
        asm volatile("cp.async.wait_group %0;\n" ::"n"(S - 2));
        __syncthreads();
        issue(t + S - 1);
        const int s = t % S;
        for (int k = 0; k < 16; ++k) {
            float a0 = As[s][y * 2][k], a1 = As[s][y * 2 + 1][k];
            float2 b = *reinterpret_cast<const float2 *>(&Bs[s][k][x * 2]);
            acc[0][0] += a0 * b.x; acc[0][1] += a0 * b.y;
            acc[1][0] += a1 * b.x; acc[1][1] += a1 * b.y;
        }
    }
    asm volatile("cp.async.wait_all;\n" ::);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int row = blockIdx.y * 32 + y * 2 + i, col = blockIdx.x * 32 + x * 2 + j;
            if (row < M && col < N) {
                float *c = C + (size_t)row * N + col;
                *c = beta == 0.f ? alpha * acc[i][j] : alpha * acc[i][j] + beta * *c;
            }
        }
}
