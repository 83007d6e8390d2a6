// entry: pipe2
// grid: (-(-N // 16), -(-M // 16))
// block: 256
// about: Two stages; the last group of copies is empty, so that the number to wait for never changes.

#include <cuda_pipeline.h>
#define TS 16
__global__ void pipe2(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[2][TS * TS];
    __shared__ float Bs[2][TS * TS];
    int r = threadIdx.x / TS, c = threadIdx.x % TS;
    int row = blockIdx.y * TS + r, col = blockIdx.x * TS + c;
    int nt = (K + TS - 1) / TS;
    auto fetch = [&](int t, int s) {
        int ka = t * TS + c, kb = t * TS + r;
        if (row < M && ka < K) __pipeline_memcpy_async(&As[s][threadIdx.x], &A[row * K + ka], 4);
        else As[s][threadIdx.x] = 0.0f;
        if (col < N && kb < K) __pipeline_memcpy_async(&Bs[s][threadIdx.x], &B[kb * N + col], 4);
        else Bs[s][threadIdx.x] = 0.0f;
    };
    fetch(0, 0);
    __pipeline_commit();
    float acc = 0.0f;
    for (int t = 0; t < nt; ++t) {
        if (t + 1 < nt) fetch(t + 1, (t + 1) & 1);
        __pipeline_commit();            // possibly an empty group
        __pipeline_wait_prior(1);
        __syncthreads();
        const float *a = As[t & 1], *b = Bs[t & 1];
        for (int k = 0; k < TS; ++k) acc += a[r * TS + k] * b[k * TS + c];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
