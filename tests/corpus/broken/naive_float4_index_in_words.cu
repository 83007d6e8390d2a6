// entry: notdiv
// grid: (-(-N // 32), -(-M // 4))
// block: (32, 4)
// shapes: (4, 32, 8)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The index of a float4 is counted in words.

__global__ void notdiv(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.y * 4 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; k += 4) {
        float4 a = ((const float4 *)A)[i * K + k];  // BUG
        s += a.x * B[k * N + j] + a.y * B[(k + 1) * N + j] + a.z * B[(k + 2) * N + j] + a.w * B[(k + 3) * N + j];
    }
    C[i * N + j] = alpha * s + (beta == 0 ? 0 : beta * C[i * N + j]);
}
