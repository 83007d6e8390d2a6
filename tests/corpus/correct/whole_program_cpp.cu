// entry: tiled_gemm<16>
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: A whole program in C++ style: iostream, vector, chrono, a template kernel and main.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <iostream>
#include <random>
#include <string>
#include <vector>

template <int T>
__global__ void tiled_gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float a[T][T], b[T][T];
    const uint32_t tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0;
    for (int t = 0; t < (K + T - 1) / T; ++t) {
        const int ka = t * T + tx, kb = t * T + ty;
        a[ty][tx] = row < M && ka < K ? A[row * K + ka] : 0;
        b[ty][tx] = kb < K && col < N ? B[kb * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = beta == 0 ? alpha * acc : alpha * acc + beta * C[row * N + col];
}

static void check(cudaError_t status, const std::string &what) {
    if (status != cudaSuccess) {
        std::cerr << what << ": " << cudaGetErrorString(status) << std::endl;
        std::exit(1);
    }
}

int main() {
    const int M = 200, N = 300, K = 100;
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    std::vector<float> A(M * K), B(K * N), C(M * N);
    std::generate(A.begin(), A.end(), [&] { return normal(generator); });
    std::generate(B.begin(), B.end(), [&] { return normal(generator); });
    float *dA, *dB, *dC;
    check(cudaMalloc(&dA, A.size() * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&dB, B.size() * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&dC, C.size() * sizeof(float)), "cudaMalloc");
    check(cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice), "copy");
    check(cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice), "copy");
    constexpr int T = 16;
    const dim3 block(T, T), grid((N + T - 1) / T, (M + T - 1) / T);
    const auto begin = std::chrono::steady_clock::now();
    tiled_gemm<T><<<grid, block>>>(M, N, K, 1.0f, dA, dB, 0.0f, dC);
    check(cudaDeviceSynchronize(), "kernel");
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    check(cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy");
    std::cout << "C[0] = " << C[0] << " after " << seconds.count() << " s\n";
    for (float *p : {dA, dB, dC}) cudaFree(p);
}
