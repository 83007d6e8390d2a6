"""Loops that ptxas unrolls, and what lanes with unequally many rounds ask for in them.

The counts of whole kernels are held against an H200 in `test_testbench`: split_at_lane, downwards_from_lane,
warp_per_element, split_at_data, rounds_by_strides, long_counters, and many that were not written for this.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gemm_lab as gl
from gemm_lab import compiler
from gemm_lab.emulator import emulate, program, unrolling

LANES = 32
SUM = """
extern "C" __global__ void k(const int *from, const int *to, const float *A, float *d, int n) {
    const int t = threadIdx.x;
    float s = 0.0f;
    %s
    d[t] = s;
}
"""
LOOPS = {  # a loop -> the rounds of a lane that starts at f and is to stop at t
    "for (int k = from[t]; k < to[t]; ++k) s = s * 0.5f + A[k * 32 + t];": lambda f, t: range(f, t),
    "for (int k = from[t]; k <= to[t]; k += 3) s = s * 0.5f + A[k * 32 + t];": lambda f, t: range(f, t + 1, 3),
    "for (int k = to[t]; k > from[t]; --k) s = s * 0.5f + A[k * 32 + t];": lambda f, t: range(t, f, -1),
    "for (int k = to[t]; k >= from[t]; k -= 2) s = s * 0.5f + A[k * 32 + t];": lambda f, t: range(t, f - 1, -2),
    "for (unsigned k = to[t] + 4; k >= 4; k -= 4) s = s * 0.5f + A[k * 32 + t];":
        lambda f, t: range(t + 4, 3, -4),
    "for (unsigned k = from[t]; k < to[t]; k += 5) s = s * 0.5f + A[k * 32 + t];": lambda f, t: range(f, t, 5),
    "int k = from[t]; do { s = s * 0.5f + A[k * 32 + t]; k += 3; } while (k < to[t]);":
        lambda f, t: [f, *range(f + 3, t, 3)],
    "for (int k = from[t]; k != to[t] + from[t]; ++k) s = s * 0.5f + A[k * 32 + t];": lambda f, t: range(f, t + f),
    "for (int k = from[t]; k < to[t]; ++k) if (A[k * 32 + t] > 0.0f) s += A[k * 32 + t + n];":
        lambda f, t: range(f, t),
    "for (int k = t; k < n; k += 32) s = s * 0.5f + A[k];": None,
}


def starts_and_stops(scale: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the lanes start, below `scale`, and stop, below three times that."""
    r = np.random.default_rng(seed)
    return r.integers(0, scale, LANES).astype(np.int32), r.integers(0, 3 * scale, LANES).astype(np.int32)


def run(body: str, start, stop, n: int = 0, **options):
    A = np.random.default_rng(0).standard_normal(32 * 400).astype(np.float32)
    d = np.zeros(LANES, np.float32)
    return emulate(SUM % body, "k", 1, LANES, (start, stop, A, d, n), **options), A, d


@pytest.fixture(params=["numpy", "llvm"])
def back_end(request, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", request.param)


@pytest.mark.parametrize("body", LOOPS)
def test_values_stay_what_they_were(body, back_end):
    for seed in range(6):
        start, stop = starts_and_stops((1, 4, 40)[seed % 3], seed)
        n = int(stop.max())
        assembled, A, d = run(body, start, stop, n)
        plain, _, wanted = run(body, start, stop, n, machine_code=False)
        assert assembled.completed and (d == wanted).all()
        assert assembled.instructions == plain.instructions
        ours, ptx = assembled.counts, plain.counts
        assert (ours.fma, ours.global_load_words) == (ptx.fma, ptx.global_load_words)
        assert ours.global_load_requests >= ptx.global_load_requests
        if LOOPS[body] and "if (" not in body:
            rounds = [len(LOOPS[body](int(f), int(t))) for f, t in zip(start, stop)]
            assert ptx.fma == sum(rounds), "the loop does what this test believes"


@pytest.mark.parametrize("body", LOOPS)
def test_ptxas_unrolls_them(body):
    """Against the machine code itself: the loops that are found, so often as is believed, are all loads that it has."""
    source = SUM % body
    ptx = compiler.compile_ptx(source, "k")
    blocks = [code.block for code in program.load(ptx.text, ptx.entry).codes]
    machine = compiler.global_loads(compiler.compile_kernel(source, "k"))
    found = unrolling.unrolled(blocks, machine)
    assert found
    loads = unrolling._loads(blocks, range(len(blocks)))
    for loop in found:
        loads.update({line: n * (loop.copies - 1) for line, n in unrolling._loads(blocks, loop.body).items()})
    assert loads == machine


def chunks(rounds: np.ndarray) -> int:
    """How often a warp executes what stands once in a loop: by fours, by twos, by ones, each as often as its longest
    lane needs."""
    return 4 * (rounds // 4).max() + 2 * (rounds % 4 // 2).max() + (rounds % 2).max()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 80), min_size=LANES, max_size=LANES))
def test_requests_by_hand(lengths):
    """The compiler unrolls four times and leaves up to three rounds to a second loop, which ptxas does not unroll; the
    first one it does. Two more requests read where to start and where to stop."""
    start, stop = np.zeros(LANES, np.int32), np.int32(lengths)
    done, *_ = run("for (int k = from[t]; k < to[t]; ++k) s += A[k * 32 + t];", start, stop)
    assert done.counts.global_load_requests == 2 + 4 * chunks(stop // 4) + (stop % 4).max()


def test_lanes_with_as_many_rounds_ask_as_the_ptx_says():
    for rounds in range(0, 24):
        start, stop = np.zeros(LANES, np.int32), np.full(LANES, rounds, np.int32)
        done, *_ = run(next(iter(LOOPS)), start, stop)
        assert done.counts.global_load_requests == 2 + rounds


@pytest.mark.parametrize("body", [
    "for (int k = 0; k < n; ++k) s += A[k * 32 + t];",                                        # all lanes alike
    "for (int k = from[t]; k < to[t]; ++k) s += k * 0.5f;",                                   # no load
    "#pragma unroll 1\nfor (int k = from[t]; k < to[t]; ++k) { if (A[k] > 3) break; s += A[k * 32 + t]; }",
    "for (int k = from[t]; k < to[t]; k += k) s += A[k * 32 + t];",                           # no constant step
    "for (int k = 0; k < 64; ++k) { __syncthreads(); s += A[k * to[t]]; }"])
def test_other_loops_are_left_alone(body):
    ptx = compiler.compile_ptx(SUM % body, "k")
    assert not program.load(ptx.text, ptx.entry).parts


def test_a_loop_that_ptxas_was_told_not_to_unroll():
    start, stop = starts_and_stops(40, 1)
    body = "#pragma unroll 1\nfor (int k = from[t]; k < to[t]; ++k) s += A[k * 32 + t];"
    done, *_ = run(body, start, stop)
    assert done.counts.global_load_requests == 2 + (stop - start).max()


def test_the_courses_first_kernels_need_no_machine_code_for_this():
    for kernel in (gl.Naive(), gl.SharedTiling(16), gl.RegisterTiling1D()):
        ptx = compiler.compile_ptx(kernel.source, kernel.entry)
        assert not program.load(ptx.text, ptx.entry).parts


@pytest.mark.parametrize("body", ["for (int k = from[t]; k != to[t]; k += 2) s += A[k % 99 * 32 + t];",
                                  "for (unsigned k = to[t]; k >= 0; k -= 4) s += A[k % 99 * 32 + t];"])
def test_an_endless_loop_is_still_found(body):
    start, stop = np.arange(LANES, dtype=np.int32), np.full(LANES, 50, np.int32)
    done, *_ = run(body, start, stop, mode="check")
    assert {finding.kind for finding in done.findings} == {"endless-loop"}
