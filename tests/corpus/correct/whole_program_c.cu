// entry: matrixMul
// grid: (-(-N // 32), -(-M // 32))
// block: (32, 32)
// about: A whole program in C style, with includes, an error macro, a host reference and main.

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 32
#define CHECK(call)                                                                          \
    do {                                                                                     \
        cudaError_t err = (call);                                                            \
        if (err != cudaSuccess) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));     \
            exit(EXIT_FAILURE);                                                              \
        }                                                                                    \
    } while (0)

__global__ void matrixMul(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    uint row = blockIdx.y * blockDim.y + threadIdx.y;
    uint col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (uint k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * C[row * N + col];
    }
}

void matrixMulOnHost(int M, int N, int K, const float *A, const float *B, float *C) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += (double)A[i * K + k] * B[k * N + j];
            C[i * N + j] = (float)sum;
        }
}

int main(int argc, char **argv) {
    int M = 100, N = 100, K = 100;
    if (argc == 4) {
        M = atoi(argv[1]);
        N = atoi(argv[2]);
        K = atoi(argv[3]);
    }
    size_t bytesA = (size_t)M * K * sizeof(float), bytesB = (size_t)K * N * sizeof(float);
    size_t bytesC = (size_t)M * N * sizeof(float);
    float *hA = (float *)malloc(bytesA), *hB = (float *)malloc(bytesB), *hC = (float *)malloc(bytesC);
    float *want = (float *)malloc(bytesC);
    for (int i = 0; i < M * K; i++) hA[i] = rand() / (float)RAND_MAX;
    for (int i = 0; i < K * N; i++) hB[i] = rand() / (float)RAND_MAX;

    float *dA, *dB, *dC;
    CHECK(cudaMalloc((void **)&dA, bytesA));
    CHECK(cudaMalloc((void **)&dB, bytesB));
    CHECK(cudaMalloc((void **)&dC, bytesC));
    CHECK(cudaMemcpy(dA, hA, bytesA, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, hB, bytesB, cudaMemcpyHostToDevice));

    dim3 block(BLOCK_SIZE, BLOCK_SIZE);
    dim3 grid((N + BLOCK_SIZE - 1) / BLOCK_SIZE, (M + BLOCK_SIZE - 1) / BLOCK_SIZE);
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    matrixMul<<<grid, block>>>(M, N, K, 1.0f, dA, dB, 0.0f, dC);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaDeviceSynchronize());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaMemcpy(hC, dC, bytesC, cudaMemcpyDeviceToHost));

    matrixMulOnHost(M, N, K, hA, hB, want);
    double worst = 0;
    for (int i = 0; i < M * N; i++) worst = fmax(worst, fabs(hC[i] - want[i]));
    printf("%d x %d x %d: %.3f ms, largest error %g\n", M, N, K, ms, worst);
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
    free(hA);
    free(hB);
    free(hC);
    free(want);
    return 0;
}
