// entry: quads
// grid: (-(-N // 64), -(-M // 8))
// block: (16, 8)
// shapes: (35, 37, 19), (5, 135, 9)
// about: A thread has four columns, 16 apart, in a struct of four sums; B is read through the read-only cache.

struct Sums {
    float v[4];
    __device__ Sums() : v{0.0f, 0.0f, 0.0f, 0.0f} {}
    __device__ void add(float a, const float (&b)[4]) {
#pragma unroll
        for (int j = 0; j < 4; ++j) v[j] = fmaf(a, b[j], v[j]);
    }
};

__global__ void quads(int M, int N, int K, float alpha, const float *__restrict__ A, const float *__restrict__ B,
                      float beta, float *__restrict__ C) {
    const int row = blockIdx.y * 8 + threadIdx.y, col0 = blockIdx.x * 64 + threadIdx.x;
    if (row >= M) return;
    Sums sums;
    for (int k = 0; k < K; ++k) {
        float b[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int col = col0 + 16 * j;
            b[j] = col < N ? __ldg(B + (size_t)k * N + col) : 0.0f;
        }
        sums.add(__ldg(A + (size_t)row * K + k), b);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int col = col0 + 16 * j;
        if (col >= N) break;
        float *c = C + (size_t)row * N + col;
        *c = alpha * sums.v[j] + (beta != 0.0f ? beta * *c : 0.0f);
    }
}
