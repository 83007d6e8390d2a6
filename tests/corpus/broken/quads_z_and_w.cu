// entry: xyzw
// grid: (-(-N // 32), -(-M // 4))
// block: (8, 4)
// shapes: (5, 36, 7)
// defect: // BUG
// kinds: wrong-values
// about: z and w are swapped.

__global__ void xyzw(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 4 + threadIdx.y, j4 = blockIdx.x * 8 + threadIdx.x;
    if (i >= M || j4 * 4 >= N) return;
    const float4 *B4 = reinterpret_cast<const float4 *>(B);
    float4 s = {0.f, 0.f, 0.f, 0.f};
    for (int k = 0; k < K; ++k) {
        float a = A[i * K + k];
        float4 b = __ldg(&B4[k * (N / 4) + j4]);
        s.x += a * b.x; s.y += a * b.y; s.z += a * b.w; s.w += a * b.z;  // BUG
    }
    float4 *c = reinterpret_cast<float4 *>(C + i * N) + j4, o = {0.f, 0.f, 0.f, 0.f};
    if (beta != 0) o = *c;
    *c = make_float4(alpha * s.x + beta * o.x, alpha * s.y + beta * o.y, alpha * s.z + beta * o.z, alpha * s.w + beta * o.w);
}
