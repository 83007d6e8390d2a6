// entry: gemm
// grid: (-(-N // 32), -(-M // 8))
// block: (16, 8)
// defect: // BUG
// kinds: misaligned, out-of-bounds, race, wrong-values
// about: Two columns as float2 whatever N is.

__device__ __forceinline__ float finish(float acc, float alpha, float beta, const float *c) {
    return beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
}

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= M || col >= N) return;
    float2 acc = make_float2(0.0f, 0.0f);
    if (N > 0) {  // BUG
        for (int k = 0; k < K; ++k) {
            const float a = A[row * K + k];
            const float2 b = *(const float2 *)&B[k * N + col];  // BUG: shows
            acc.x += a * b.x;
            acc.y += a * b.y;
        }
        float2 out;
        out.x = finish(acc.x, alpha, beta, &C[row * N + col]);  // BUG: shows
        out.y = finish(acc.y, alpha, beta, &C[row * N + col + 1]);  // BUG: shows
        *(float2 *)(C + row * N + col) = out;  // BUG: shows
    } else {
        const bool two = col + 1 < N;
        for (int k = 0; k < K; ++k) {
            acc.x += A[row * K + k] * B[k * N + col];
            if (two) acc.y += A[row * K + k] * B[k * N + col + 1];
        }
        C[row * N + col] = finish(acc.x, alpha, beta, &C[row * N + col]);
        if (two) C[row * N + col + 1] = finish(acc.y, alpha, beta, &C[row * N + col + 1]);
    }
}
