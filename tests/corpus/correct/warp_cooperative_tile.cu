// entry: gemm
// grid: -(-(M * N) // 16)
// block: 128
// shapes: (1, 1, 1), (3, 3, 431), (7, 6, 33), (20, 17, 64)
// about: tiled_partition of cooperative groups: eight threads for each element.

#include <cooperative_groups.h>
using namespace cooperative_groups;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    auto tile = tiled_partition<8>(this_thread_block());
    const int element = blockIdx.x * 16 + threadIdx.x / tile.size();
    float acc = 0.0f;
    if (element < M * N) {
        const float *a = A + element / N * K, *b = B + element % N;
        for (int k = tile.thread_rank(); k < K; k += tile.size()) acc += a[k] * b[k * N];
    }
    for (int d = tile.size() / 2; d > 0; d /= 2) acc += tile.shfl_down(acc, d);
    if (element < M * N && tile.thread_rank() == 0)
        C[element] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[element];
}
