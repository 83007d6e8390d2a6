// entry: pad4
// grid: (-(-N // 32), -(-M // 8))
// block: (8, 8)
// defect: // BUG
// kinds: misaligned
// about: Rows of 33 words are read as float4.

__global__ void pad4(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ __align__(16) float Bs[8][33];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 8 + y, j = blockIdx.x * 32 + 4 * x;
    float4 s = {0, 0, 0, 0};
    for (int k0 = 0; k0 < K; k0 += 8) {
        for (int e = 0; e < 4; ++e) Bs[y][4 * x + e] = k0 + y < K && j + e < N ? B[(k0 + y) * N + j + e] : 0;
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float a = i < M && k0 + k < K ? A[i * K + k0 + k] : 0;
            float4 b = *(float4 *)&Bs[k][4 * x];  // BUG
            s.x += a * b.x; s.y += a * b.y; s.z += a * b.z; s.w += a * b.w;
        }
        __syncthreads();
    }
    float v[4] = {s.x, s.y, s.z, s.w};
    for (int e = 0; e < 4; ++e)
        if (i < M && j + e < N) C[i * N + j + e] = alpha * v[e] + (beta == 0 ? 0 : beta * C[i * N + j + e]);
}
