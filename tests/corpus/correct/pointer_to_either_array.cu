// entry: k
// grid: (-(-N // 8), -(-M // 8))
// block: 128
// about: One store reaches the tile of A in some warps and that of B in others.

__global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ float As[8][8], Bs[8][8];
    const int t = threadIdx.x, h = t >> 6, i = (t >> 3) & 7, j = t & 7;
    const int r0 = blockIdx.y * 8, c0 = blockIdx.x * 8;
    float *const dst = h ? &Bs[i][j] : &As[i][j];
    const float *const base = h ? B : A;
    const long step = h ? 8L * N : 8;
    long at = h ? (long)i * N + c0 + j : (long)(r0 + i) * K + j;
    float s = 0.f;
    for (int k0 = 0; k0 < K; k0 += 8, at += step) {
        const bool ok = h ? k0 + i < K && c0 + j < N : r0 + i < M && k0 + j < K;
        *dst = ok ? base[at] : 0.f;
        __syncthreads();
        for (int q = h * 4; q < h * 4 + 4; ++q) s += As[i][q] * Bs[q][j];
        __syncthreads();
    }
    // the second half hands its sums over through As
    if (h) As[i][j] = s;
    __syncthreads();
    if (!h && r0 + i < M && c0 + j < N) {
        s += As[i][j];
        float *p = C + (r0 + i) * N + c0 + j;
        *p = beta == 0.f ? alpha * s : alpha * s + beta * *p;
    }
}
