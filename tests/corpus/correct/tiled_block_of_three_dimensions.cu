// entry: rect_tile
// grid: (-(-N // 16), -(-M // 32))
// block: (16, 8, 4)
// about: Rectangular tiles, loaded by two parts of a block of three dimensions.

#define BM 32
#define BN 16
#define BK 8
__global__ void rect_tile(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float sa[BM][BK];
    __shared__ float sb[BK][BN];
    int tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);   // 512 threads, 512 outputs
    int r = tid / BN, c = tid % BN;
    float acc = 0.0f;
    for (int kk = 0; kk < K; kk += BK) {
        if (tid < BM * BK) {
            int ar = tid / BK, ac = tid % BK;
            int gr = blockIdx.y * BM + ar, gc = kk + ac;
            if (gr < M && gc < K) sa[ar][ac] = A[gr * K + gc];
            else sa[ar][ac] = 0.0f;
        } else if (tid < BM * BK + BK * BN) {
            int t = tid - BM * BK;
            int br = t / BN, bc = t % BN;
            int gr = kk + br, gc = blockIdx.x * BN + bc;
            sb[br][bc] = gr < K && gc < N ? B[gr * N + gc] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k++) acc += sa[r][k] * sb[k][c];
        __syncthreads();
    }
    int gr = blockIdx.y * BM + r, gc = blockIdx.x * BN + c;
    if (gr < M && gc < N) {
        if (beta == 0.0f) C[gr * N + gc] = alpha * acc;
        else C[gr * N + gc] = alpha * acc + beta * C[gr * N + gc];
    }
}
