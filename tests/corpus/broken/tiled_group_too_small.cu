// entry: gemm
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// defect: // BUG
// kinds: race, wrong-values
// about: A warp's group waits where the block must.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    constexpr int T = 16;
    __shared__ float As[T][T], Bs[T][T];
    cg::thread_block block = cg::this_thread_block();
    const int tx = block.thread_index().x, ty = block.thread_index().y;
    const int row = block.group_index().y * T + ty, col = block.group_index().x * T + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;  // BUG: shows
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;  // BUG: shows
        cg::tiled_partition<32>(block).sync();  // BUG
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];  // BUG: shows
        cg::sync(block);
    }
    if (row < M && col < N) C[row * N + col] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[row * N + col];
}
