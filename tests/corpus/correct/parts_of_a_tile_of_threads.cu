// entry: k
// grid: (-(-N // 32), M)
// block: 128
// about: The rank of a tile of 4 within a tile of 32 threads, as cooperative groups count it.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    cg::thread_block blk = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(blk);
    auto quad = cg::tiled_partition<4>(warp);
    const int c = blockIdx.x * 32 + quad.meta_group_rank() + 8 * (threadIdx.x / 32), r = blockIdx.y;
    __shared__ float a[64];
    float s = 0.f;
    for (int k0 = 0; k0 < K; k0 += 64) {
        if (blk.thread_rank() < 64) a[blk.thread_rank()] = k0 + blk.thread_rank() < K ? A[r * K + k0 + blk.thread_rank()] : 0.f;
        blk.sync();
        if (c < N)
            for (int i = quad.thread_rank(); i < 64 && k0 + i < K; i += quad.num_threads()) s += a[i] * B[(k0 + i) * N + c];
        cg::sync(blk);
    }
    s = cg::reduce(quad, s, [](float x, float y) { return x + y; });
    if (c < N && quad.thread_rank() == 3) {
        const float bet = beta;
        C[r * N + c] = bet == 0.f ? alpha * s : alpha * s + bet * C[r * N + c];
    }
}
