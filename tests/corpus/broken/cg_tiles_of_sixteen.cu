// entry: cg16
// grid: (N, M)
// block: 32
// shapes: (2, 3, 40)
// defect: // BUG
// kinds: race, wrong-values
// about: Two tiles of sixteen threads write their halves of one sum.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void cg16(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    float s = 0;
    for (int k = threadIdx.x; k < K; k += 32) s += A[blockIdx.y * K + k] * B[k * N + blockIdx.x];
    for (int d = tile.size() / 2; d > 0; d /= 2) s += tile.shfl_down(s, d);
    if (tile.thread_rank() == 0)
        C[blockIdx.y * N + blockIdx.x] = alpha * s + (beta == 0 ? 0 : beta * C[blockIdx.y * N + blockIdx.x]);  // BUG
}
