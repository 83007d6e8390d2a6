// entry: grouped
// grid: 2
// block: (8, 8)
// shapes: (30, 20, 9)
// about: Tiles in strips, found by multiplication with a magic number.

struct Divmod {
    unsigned d, m, s;
    __device__ explicit Divmod(unsigned d_) : d(d_) {
        s = 0; while ((1u << s) < d) ++s;
        m = d == 1 ? 0 : (unsigned)(((1ull << 32) * ((1ull << s) - d)) / d + 1);
    }
    __device__ void operator()(unsigned n, unsigned &q, unsigned &r) const {
        q = d == 1 ? n : (unsigned)(((unsigned long long)__umulhi(n, m) + n) >> s);
        r = n - q * d;
    }
};
__global__ void grouped(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // tiles in strips of GROUP rows, as Triton's tutorial does
    const unsigned GROUP = 2, tm = (M + 7) / 8, tn = (N + 7) / 8;
    Divmod strip(GROUP * tn);
    for (unsigned t = blockIdx.x; t < tm * tn; t += gridDim.x) {
        unsigned g, in, pm, pn;
        strip(t, g, in);
        unsigned rows = min(tm - g * GROUP, GROUP);
        Divmod column(rows);
        column(in, pn, pm);
        pm += g * GROUP;
        int i = pm * 8 + threadIdx.y, j = pn * 8 + threadIdx.x;
        if (i < M && j < N) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
        }
    }
}
