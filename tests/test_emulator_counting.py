"""Counts against patterns worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.counts import Counts
from gemm_lab.emulator import counting, emulate, flow, program

LANE = np.arange(32)


def rows(*addresses):
    return np.array(addresses, np.int64).reshape(-1, 32)


@pytest.mark.parametrize("addresses, sectors, lines", [
    (LANE * 4, 4, 1),                                  # a row of floats
    (LANE * 4 + 4, 5, 2),                              # the same, one float further
    (LANE * 0 + 64, 1, 1),                             # broadcast
    (LANE * 8, 8, 2),                                  # every other float
    (LANE * 128, 32, 32),                              # a column of a matrix with 32 columns
    (LANE * 4 % 32, 1, 1),                             # eight floats, four times
    (np.where(LANE < 16, LANE * 4, 4096 + LANE * 4), 4, 2),
    ((31 - LANE) * 4, 4, 1),                           # backwards
    (np.where(LANE < 5, LANE * 4, -1), 1, 1),          # five lanes
    (np.where(LANE == 9, 36, -1), 1, 1),
    (LANE * 16, 16, 4),                                # float4
])
def test_sectors_and_lines(addresses, sectors, lines):
    assert (counting.sectors(rows(addresses)), counting.lines(rows(addresses))) == (sectors, lines)


def test_requests_are_counted_one_by_one():
    assert counting.sectors(rows(LANE * 4, LANE * 4)) == 8


# ---- whole kernels --------------------------------------------------------------------------------------------------

SOURCE = """
__global__ void copy(int n, int stride, const float *A, float *C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i * stride];
}
__global__ void vector(const float4 *A, float2 *C) {
    float4 v = A[threadIdx.x];
    C[threadIdx.x] = make_float2(v.x, v.w);
}
__global__ void shared(int stride, const float *A, float *C) {
    __shared__ float s[32 * 33];
    s[threadIdx.x * stride] = A[threadIdx.x];
    __syncthreads();
    C[threadIdx.x] = s[threadIdx.x] + s[0] * 2.0f;
}
__device__ float twice(float x) { return fmaf(x, x, 1.0f); }
__global__ void lines(const float *A, float *C) {
    float x = A[threadIdx.x];
    x = twice(x);
    if (threadIdx.x < 40)
        x = fmaf(x, 3.0f, x);
    C[threadIdx.x] = x;
}
"""


def run(entry, *args, grid=1, block=32, mode="count"):
    done = emulate(SOURCE, entry, grid, block, args, mode=mode)
    assert done.completed and not done.findings
    return done


def floats(n):
    return np.arange(n, dtype=np.float32)


@pytest.mark.parametrize("threads, grid, n, stride, requests, load_sectors, load_lines, store_sectors, store_lines", [
    (32, 1, 32, 1, 1, 4, 1, 4, 1),
    (32, 1, 32, 2, 1, 8, 2, 4, 1),
    (32, 1, 32, 32, 1, 32, 32, 4, 1),
    (32, 1, 5, 1, 1, 1, 1, 1, 1),
    (48, 1, 48, 1, 2, 6, 2, 6, 2),          # a warp and a half
    (33, 2, 66, 1, 4, 11, 5, 11, 5),        # floats 0-31 | 32 | 33-64, which start and end inside a sector | 65
    (64, 2, 100, 1, 4, 13, 4, 13, 4),       # the last warp has 4 lanes
])
def test_a_strided_copy(threads, grid, n, stride, requests, load_sectors, load_lines, store_sectors, store_lines):
    A, C = floats(n * stride), np.zeros(n, np.float32)
    counts = run("copy", n, stride, A, C, grid=grid, block=threads).counts
    assert np.array_equal(C, A[::stride])
    assert counts == Counts(**{**Counts.zero().__dict__, "global_load_words": n, "global_store_words": n,
                               "global_load_requests": requests, "global_store_requests": requests,
                               "global_load_sectors": load_sectors, "global_store_sectors": store_sectors,
                               "global_load_wavefronts": load_lines, "global_store_wavefronts": store_lines})


def test_vector_accesses():
    c = run("vector", floats(128).reshape(32, 4), np.zeros((32, 2), np.float32)).counts
    names = ("words", "requests", "sectors", "wavefronts")
    assert [getattr(c, f"global_load_{name}") for name in names] == [128, 1, 16, 4]
    assert [getattr(c, f"global_store_{name}") for name in names] == [64, 1, 8, 2]


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 32, 33])
def test_shared_memory(stride):
    c = run("shared", stride, floats(32), np.zeros(32, np.float32)).counts
    assert (c.shared_store_words, c.shared_store_requests, c.shared_store_wavefronts) == (32, 1, np.gcd(stride, 32))
    assert c.shared_store_bank_conflicts == np.gcd(stride, 32) - 1
    # Loads: a row and a broadcast.
    assert (c.shared_load_words, c.shared_load_requests, c.shared_load_wavefronts) == (64, 2, 2)
    assert c.shared_load_bank_conflicts == 0


def test_counts_by_line_belong_to_their_line_and_add_up():
    done = run("lines", floats(64), np.zeros(64, np.float32), block=64)
    at = {text: n for n, text in enumerate(SOURCE.splitlines(), 1)}
    helper = at["__device__ float twice(float x) { return fmaf(x, x, 1.0f); }"]
    assert done.by_line[helper].fma == 64
    assert done.by_line[at["        x = fmaf(x, 3.0f, x);"]].fma == 40
    load, store = at["    float x = A[threadIdx.x];"], at["    C[threadIdx.x] = x;"]
    store = max(n for n, text in enumerate(SOURCE.splitlines(), 1) if text == "    C[threadIdx.x] = x;")
    assert done.by_line[load].global_load_words == 64 and done.by_line[store].global_store_words == 64
    assert sum(done.by_line.values(), Counts.zero()) == done.counts
    assert all(isinstance(v, int) for c in done.by_line.values() for v in vars(c).values())


def test_accesses_as_the_ptx_makes_them():
    """Two loads for each k and warp in the PTX; the machine code merges four loads of A: 1.25 requests, not 2."""
    A, B = np.ones((32, 64), np.float32), np.ones((64, 32), np.float32)
    ptx, machine = (gl.SharedTiling(TILE=32).run(A, B, machine_code=exact).counts for exact in (False, True))
    assert (ptx.shared_load_requests, machine.shared_load_requests) == (2 * 32 * 64, 1.25 * 32 * 64)
    assert ptx.shared_load_words == machine.shared_load_words


def test_values_mode_counts_nothing():
    done = run("copy", 32, 1, floats(32), np.zeros(32, np.float32), mode="values")
    assert done.counts is None and done.by_line == {}


def test_counts_do_not_depend_on_how_blocks_are_batched(monkeypatch):
    from gemm_lab.emulator import machine
    A, wanted = floats(1000), None
    for lanes in (32, 96, 8192):
        monkeypatch.setattr(machine, "LANES", lanes)
        C = np.zeros(1000, np.float32)
        done = run("copy", 1000, 1, A, C, grid=32)
        wanted = wanted or done.counts
        assert done.counts == wanted and np.array_equal(C, A)


TURNED = """
__global__ void k(int n, const float *A, float *C) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    float sum = 0.0f;
    int start = 0;
    while (__syncthreads_or(start + t < n)) {
        s[t] = start + t < n ? A[start + t] : 0.0f;
        __syncthreads();
        sum += s[31 - t];
        start += 32;
    }
    C[t] = sum;
}
"""


def test_lanes_meet_before_the_end_of_a_loop_that_stands_above_its_head(monkeypatch):
    """50 floats in two rounds: the last 14 lanes have nothing to load, and store a zero together with the others."""
    def stores() -> int:
        done = emulate(TURNED, "k", 1, 32, (50, np.ones(50, np.float32), np.zeros(32, np.float32)))
        return done.counts.shared_store_requests
    assert stores() == 2
    for function in ("in_order", "with_meetings"):
        monkeypatch.setattr(flow, function, lambda blocks: blocks)
    program.decoded.cache_clear()
    assert stores() == 3, "in the PTX the store stands above the load: this test tells the orders apart"
    program.decoded.cache_clear()


def test_blocks_are_put_in_order():
    """0 jumps to 2, the head; 1 is the end of the loop and goes back to it; from 2 to 3 or out to 4, from 3 to 1."""
    def block(*targets):
        return flow.Block([], flow.Branch(None, *targets) if len(targets) > 1 else flow.Jump(*targets))
    blocks = flow.in_order([block(2), block(2), block(3, 4), block(1), block(flow.EXIT)])
    assert [b.end.targets for b in blocks] == [(1,), (2, 4), (3,), (1,), (flow.EXIT,)]
    straight = [block(2, 1), block(2), block(2, 3), block(flow.EXIT), block(3)]
    assert [b.end.targets for b in flow.in_order(straight)] == [(2, 1), (2,), (2, 4), (4,), (flow.EXIT,)]


def test_ways_back_to_one_head_join_before_it():
    """1, 2 and 3 go back to 0; 4 is a loop of its own."""
    def block(*targets):
        return flow.Block([], flow.Branch(None, *targets) if len(targets) > 1 else flow.Jump(*targets))
    blocks = flow.with_meetings([block(1), block(0, 2), block(3, 0), block(0, 4), block(4, flow.EXIT)])
    assert [b.end.targets for b in blocks] == [(1,), (4, 2), (3, 4), (4, 5), (0,), (5, flow.EXIT)]
    assert [b.added for b in blocks] == [False] * 4 + [True, False]
    once = [block(1), block(0, flow.EXIT)]
    assert flow.with_meetings(once) == once


def test_lanes_that_have_nothing_to_do_do_not_begin_the_next_round():
    """Lanes that skip the work go back to the head from another place than those that do it."""
    body = """
    extern "C" __global__ void k(int n, const float *A, float *C) {
        for (int i = 0; ; ++i) {
            int turn = i;
            turn = __shfl_sync(0xffffffff, turn, 0);
            if (turn >= n) break;
            if (threadIdx.x < 20) C[turn * 20 + threadIdx.x] += A[turn];
        }
    }"""
    C = np.zeros((5, 20), np.float32)
    done = emulate(body, "k", 1, 32, (5, np.arange(5, dtype=np.float32), C), mode="check")
    assert done.findings == () and (C == np.arange(5)[:, None]).all()
