// entry: gemm<16, Axpby>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: What happens to a result is a functor given as a template argument.

struct Axpby {
    float alpha, beta;
    __device__ void operator()(float &c, float acc) const {
        if (beta == 0.0f)
            c = alpha * acc;
        else
            c = fmaf(beta, c, alpha * acc);
    }
};

template <int T, typename Epilogue>
__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[T][T], Bs[T][T];
    const Epilogue epilogue{alpha, beta};
    const auto tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc{};
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) epilogue(C[row * N + col], acc);
}
