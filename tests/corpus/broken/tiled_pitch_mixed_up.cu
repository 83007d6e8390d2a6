// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: 256
// defect: // BUG
// kinds: uninitialized, wrong-values
// about: B's tile is stored in rows of 17 words and read in rows of 16.

#define BW 16
#define IDX(r, c, ld) ((r) * (ld) + (c))
#define FOR(i, n) for (int i = 0; i < (n); ++i)

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sa[BW * BW], sb[BW * (BW + 1)];
    const int r = threadIdx.x / BW, c = threadIdx.x % BW;
    const int row = blockIdx.y * BW + r, col = blockIdx.x * BW + c;
    float acc = 0;
    FOR(t, (K + BW - 1) / BW) {
        const int ka = t * BW + c, kb = t * BW + r;
        sa[IDX(r, c, BW)] = (row < M && ka < K) ? A[IDX(row, ka, K)] : 0;
        sb[IDX(r, c, BW + 1)] = (kb < K && col < N) ? B[IDX(kb, col, N)] : 0;  // BUG: shows
        __syncthreads();
        FOR(k, BW) acc += sa[IDX(r, k, BW)] * sb[IDX(k, c, BW)];  // BUG: shows
        __syncthreads();
    }
    if (row < M && col < N) C[IDX(row, col, N)] = alpha * acc + (beta != 0 ? beta * C[IDX(row, col, N)] : 0);
}
