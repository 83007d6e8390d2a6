// entry: prefetch
// grid: (-(-N // 32), -(-M // 32))
// block: (16, 16)
// about: Lambdas fetch the next tiles into registers and store them.

template <typename T> struct Acc2 { T v[2][2]; };
__global__ void prefetch(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[16][32];
    __shared__ float Bs[16][32];
    const int tid = threadIdx.y * 16 + threadIdx.x;
    float ra[2], rb[2];
    auto load = [=, &ra, &rb](int k0) {
        for (int i = 0; i < 2; ++i) {
            int e = tid + i * 256;
            int m = blockIdx.y * 32 + e / 16, k = k0 + e % 16;
            ra[i] = m < M && k < K ? A[m * K + k] : 0.f;
            int kk = k0 + e / 32, n = blockIdx.x * 32 + e % 32;
            rb[i] = kk < K && n < N ? B[kk * N + n] : 0.f;
        }
    };
    auto store = [&] {
        for (int i = 0; i < 2; ++i) {
            int e = tid + i * 256;
            As[e % 16][e / 16] = ra[i];
            Bs[e / 32][e % 32] = rb[i];
        }
    };
    Acc2<float> acc = {};
    load(0);
    for (int k0 = 0; k0 < K; k0 += 16) {
        store();
        __syncthreads();
        if (k0 + 16 < K) load(k0 + 16);
        for (int k = 0; k < 16; ++k)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j)
                    acc.v[i][j] += As[k][threadIdx.y * 2 + i] * Bs[k][threadIdx.x + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int m = blockIdx.y * 32 + threadIdx.y * 2 + i, n = blockIdx.x * 32 + threadIdx.x + 16 * j;
            if (m >= M || n >= N) continue;
            float c = beta == 0.f ? 0.f : C[m * N + n];
            C[m * N + n] = alpha * acc.v[i][j] + beta * c;
        }
}
