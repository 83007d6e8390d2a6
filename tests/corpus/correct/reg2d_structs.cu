// entry: gemm_struct<Config<16, 16, 8, 2, 2>>
// grid: (-(-N // 16), -(-M // 16))
// block: 64
// about: Tiles, fragments and views are structs of a template's configuration.

template <int M_, int N_, int K_, int TM_, int TN_>
struct Config {
    static constexpr int BM = M_, BN = N_, BK = K_, TM = TM_, TN = TN_;
    static constexpr int threads = (BM / TM) * (BN / TN);
};
template <int R, int C>
struct Fragment {
    float v[R * C];
    __device__ Fragment() { for (int i = 0; i < R * C; ++i) v[i] = 0.0f; }
    __device__ float &operator()(int r, int c) { return v[r * C + c]; }
    __device__ void mac(const float (&a)[R], const float (&b)[C]) {
        for (int r = 0; r < R; ++r) for (int c = 0; c < C; ++c) (*this)(r, c) += a[r] * b[c];
    }
};
struct View {
    const float *p; int rows, cols;
    __device__ float operator()(int r, int c) const { return r < rows && c < cols ? p[(long)r * cols + c] : 0.0f; }
};
template <class Cfg>
struct Shared { float a[Cfg::BM][Cfg::BK + 1]; float b[Cfg::BK][Cfg::BN]; };
template <class Cfg>
__global__ void gemm_struct(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ Shared<Cfg> s;
    View a{A, M, K}, b{B, K, N};
    Fragment<Cfg::TM, Cfg::TN> acc;
    const int ty = threadIdx.x / (Cfg::BN / Cfg::TN), tx = threadIdx.x % (Cfg::BN / Cfg::TN);
    for (int k0 = 0; k0 < K; k0 += Cfg::BK) {
        for (int i = threadIdx.x; i < Cfg::BM * Cfg::BK; i += Cfg::threads)
            s.a[i / Cfg::BK][i % Cfg::BK] = a(blockIdx.y * Cfg::BM + i / Cfg::BK, k0 + i % Cfg::BK);
        for (int i = threadIdx.x; i < Cfg::BN * Cfg::BK; i += Cfg::threads)
            s.b[i / Cfg::BN][i % Cfg::BN] = b(k0 + i / Cfg::BN, blockIdx.x * Cfg::BN + i % Cfg::BN);
        __syncthreads();
        for (int k = 0; k < Cfg::BK; ++k) {
            float ra[Cfg::TM], rb[Cfg::TN];
            for (int i = 0; i < Cfg::TM; ++i) ra[i] = s.a[ty * Cfg::TM + i][k];
            for (int j = 0; j < Cfg::TN; ++j) rb[j] = s.b[k][tx * Cfg::TN + j];
            acc.mac(ra, rb);
        }
        __syncthreads();
    }
    for (int i = 0; i < Cfg::TM; ++i)
        for (int j = 0; j < Cfg::TN; ++j) {
            int r = blockIdx.y * Cfg::BM + ty * Cfg::TM + i, c = blockIdx.x * Cfg::BN + tx * Cfg::TN + j;
            if (r < M && c < N) {
                float *out = C + (long)r * N + c;
                *out = alpha * acc(i, j) + (beta != 0.0f ? beta * *out : 0.0f);
            }
        }
}
