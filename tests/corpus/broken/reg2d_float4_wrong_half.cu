// entry: sgemmVectorize<64, 64, 8, 4, 4>
// grid: (N // 64, M // 64)
// block: 256
// shapes: (64, 64, 8), (128, 64, 24), (64, 128, 16)
// defect: // BUG
// kinds: out-of-bounds, wrong-values
// about: The second half of the threads counts from 0 only in the index of B, not of its tile.

#define FLOAT4(x) (*reinterpret_cast<float4 *>(&(x)))
#define CFLOAT4(x) (*reinterpret_cast<const float4 *>(&(x)))

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemmVectorize(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[BK * BM];
    __shared__ float Bs[BK * BN];
    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);

    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;

    float threadResults[TM * TN] = {0.0f};
    float regM[TM], regN[TN];
    for (int bk = 0; bk < K; bk += BK) {
        if (threadIdx.x < BM * BK / 4) {
            const int r = threadIdx.x / (BK / 4), c = threadIdx.x % (BK / 4) * 4;
            float4 tmp = CFLOAT4(A[r * K + c]);
            As[(c + 0) * BM + r] = tmp.x;
            As[(c + 1) * BM + r] = tmp.y;
            As[(c + 2) * BM + r] = tmp.z;
            As[(c + 3) * BM + r] = tmp.w;
        } else {
            const int t = threadIdx.x - BM * BK / 4, r = t / (BN / 4), c = t % (BN / 4) * 4;
            FLOAT4(Bs[(r + 8) * BN + c]) = CFLOAT4(B[r * N + c]);  // BUG
        }
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int dot = 0; dot < BK; ++dot) {
            FLOAT4(regM[0]) = FLOAT4(As[dot * BM + threadRow * TM]);
            FLOAT4(regN[0]) = FLOAT4(Bs[dot * BN + threadCol * TN]);  // BUG: shows
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];  // BUG: shows
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m) {
        float4 *c = reinterpret_cast<float4 *>(&C[(threadRow * TM + m) * N + threadCol * TN]);
        float4 old = beta == 0 ? make_float4(0, 0, 0, 0) : *c, out;
        out.x = alpha * threadResults[m * TN + 0] + beta * old.x;
        out.y = alpha * threadResults[m * TN + 1] + beta * old.y;
        out.z = alpha * threadResults[m * TN + 2] + beta * old.z;
        out.w = alpha * threadResults[m * TN + 3] + beta * old.w;
        *c = out;
    }
}
