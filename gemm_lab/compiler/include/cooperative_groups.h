// The part of cooperative groups that lives inside a block: the block itself, and tiles of a warp.
// CUDA C++ Programming Guide, "Cooperative Groups".
#pragma once

namespace cooperative_groups {

struct thread_block {
    __device__ static void sync() { __syncthreads(); }
    __device__ static unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ static unsigned size() { return num_threads(); }
    __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    __device__ static dim3 group_dim() { return dim_threads(); }
};
__device__ inline thread_block this_thread_block() { return {}; }

// SIZE neighbouring lanes of one warp.
template <unsigned SIZE, typename Parent = void>
struct thread_block_tile {
    static_assert(SIZE >= 1 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

    unsigned within = 0;  // threads of the tile that it is a part of; 0: it is a part of the block

    thread_block_tile() = default;
    __device__ explicit thread_block_tile(unsigned parent) : within(parent) {}
    template <typename Other> __device__ thread_block_tile(const thread_block_tile<SIZE, Other> &same)
        : within(same.within) {}

    __device__ static unsigned thread_rank() { return thread_block::thread_rank() % SIZE; }
    __device__ static unsigned mask() {
        return (0xffffffffu >> (32 - SIZE)) << (thread_block::thread_rank() % 32 - thread_rank());
    }
    __device__ static constexpr unsigned num_threads() { return SIZE; }
    __device__ static constexpr unsigned size() { return SIZE; }
    __device__ unsigned meta_group_rank() const {
        return (within ? thread_block::thread_rank() % within : thread_block::thread_rank()) / SIZE;
    }
    __device__ unsigned meta_group_size() const {
        return ((within ? within : thread_block::num_threads()) + SIZE - 1) / SIZE;
    }

    __device__ static void sync() { __syncwarp(mask()); }
    template <typename T> __device__ static T shfl(T x, int lane) { return __shfl_sync(mask(), x, lane, SIZE); }
    template <typename T> __device__ static T shfl_up(T x, int d) { return __shfl_up_sync(mask(), x, d, SIZE); }
    template <typename T> __device__ static T shfl_down(T x, int d) { return __shfl_down_sync(mask(), x, d, SIZE); }
    template <typename T> __device__ static T shfl_xor(T x, int m) { return __shfl_xor_sync(mask(), x, m, SIZE); }
    __device__ static int any(int test) { return __any_sync(mask(), test); }
    __device__ static int all(int test) { return __all_sync(mask(), test); }
    __device__ static unsigned ballot(int test) {
        return (__ballot_sync(mask(), test) & mask()) >> (thread_block::thread_rank() % 32 - thread_rank());
    }
};
template <unsigned SIZE>
__device__ thread_block_tile<SIZE, thread_block> tiled_partition(const thread_block &) { return {}; }
template <unsigned SIZE, unsigned OUTER, typename Parent>
__device__ thread_block_tile<SIZE, thread_block_tile<OUTER, Parent>> tiled_partition(
    const thread_block_tile<OUTER, Parent> &) {
    static_assert(SIZE <= OUTER, "a part has no more threads than the whole");
    return thread_block_tile<SIZE, thread_block_tile<OUTER, Parent>>(OUTER);
}

template <typename Group> __device__ void sync(const Group &group) { group.sync(); }
template <typename Group> __device__ unsigned thread_rank(const Group &group) { return group.thread_rank(); }

template <typename T> struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T> struct less {
    __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T> struct greater {
    __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
// All threads of the tile receive op over every thread's x.
template <unsigned SIZE, typename Parent, typename T, typename Op>
__device__ T reduce(const thread_block_tile<SIZE, Parent> &tile, T x, Op op) {
    for (unsigned m = SIZE / 2; m > 0; m /= 2) x = op(x, tile.shfl_xor(x, m));
    return x;
}
}  // namespace cooperative_groups
