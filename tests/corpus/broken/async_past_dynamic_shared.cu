// entry: k
// grid: (-(-N // 32), -(-M // 32))
// block: 128
// shared_bytes: 2048
// defect: // BUG
// kinds: out-of-bounds
// about: The copies go past the dynamic shared memory of the launch.

namespace {
constexpr int STAGES = 3, BM = 32, BN = 32, BK = 4, NT = 128;
__device__ inline void cp4(float *dst, const float *src, bool ok)
{
    unsigned d = (unsigned)__cvta_generic_to_shared(dst);
    int bytes = ok ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(d), "l"(src), "r"(bytes) : "memory");  // BUG
}
__device__ inline void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int N> __device__ inline void wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory"); }
}
extern "C" __global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    extern __shared__ float smem[];
    float *sA = smem, *sB = smem + STAGES * BM * BK;
    int tid = threadIdx.x, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    int nk = (K + BK - 1) / BK;
    auto issue = [&](int t) {
        if (t < nk) {
            int s = t % STAGES, e = tid;
            int m = m0 + e / BK, kk = t * BK + e % BK;
            bool ok = m < M && kk < K;
            cp4(sA + s * BM * BK + e, ok ? A + (long)m * K + kk : A, ok);
            int n = n0 + e % BN;
            kk = t * BK + e / BN;
            ok = n < N && kk < K;
            cp4(sB + s * BN * BK + e, ok ? B + (long)kk * N + n : B, ok);
        }
        commit();
    };
    float acc[8] = {};
    int tx = tid % BN, ty = tid / BN;
    for (int s = 0; s < STAGES - 1; ++s) issue(s);
    for (int t = 0; t < nk; ++t) {
        wait<STAGES - 2>();
        __syncthreads();
        issue(t + STAGES - 1);
        const float *a = sA + (t % STAGES) * BM * BK, *b = sB + (t % STAGES) * BN * BK;
        for (int kk = 0; kk < BK; ++kk)
            for (int i = 0; i < 8; ++i)
                acc[i] += a[(ty + 4 * i) * BK + kk] * b[kk * BN + tx];
    }
    for (int i = 0; i < 8; ++i) {
        int m = m0 + ty + 4 * i, n = n0 + tx;
        if (m < M && n < N) {
            float v = alpha * acc[i];
            if (beta != 0.f) v += beta * C[(long)m * N + n];
            C[(long)m * N + n] = v;
        }
    }
}
