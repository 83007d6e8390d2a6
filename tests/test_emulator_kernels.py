"""The course kernels on the emulator: bit-exact values, ragged sizes, schedules, what a missing barrier does."""

from __future__ import annotations

import ctypes
import ctypes.util

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.emulator import emulate

FIRST_BARRIER = "        __syncthreads();  // nobody reads a tile before all of it is there\n"
SECOND_BARRIER = "        __syncthreads();  // nobody overwrites a tile that somebody still reads\n"
KERNELS = [gl.Naive(), gl.Naive(coalesced=False, block=(16, 4)), gl.SharedTiling(8), gl.SharedTiling(16, PAD=1),
           gl.RegisterTiling1D(16, 32, 4, 4), gl.RegisterTiling1D(12, 20, 5, 3, strided_loader=True)]


def problem(M, N, K, seed=0):
    r = np.random.default_rng(seed)
    return tuple(r.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N), (M, N)))


def launch(kernel, A, B, C, alpha=1.0, beta=0.0, source=None, **options):
    M, N = C.shape
    return emulate(source or kernel.source, kernel.entry, kernel.grid(M, N), kernel.block,
                   (M, N, A.shape[1], alpha, A, B, beta, C), **options)


def fma_chain(A, B):
    """A @ B, one C-library fma after the other in the order of k."""
    libm = ctypes.CDLL(ctypes.util.find_library("m") or ctypes.util.find_library("msvcrt"))
    libm.fmaf.restype, libm.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    out = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for (i, j), _ in np.ndenumerate(out):
        acc = 0.0
        for a, b in zip(A[i], B[:, j]):
            acc = libm.fmaf(a, b, acc)
        out[i, j] = acc
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_values_are_bit_exact_and_inputs_are_left_alone(kernel):
    A, B, C = problem(13, 17, 19)
    before = A.copy(), B.copy()
    C[:] = np.nan    # must not be read at beta = 0
    done = launch(kernel, A, B, C, mode="check")
    assert done.completed and done.findings == ()
    assert np.array_equal(C, fma_chain(A, B))
    assert np.array_equal(A, before[0]) and np.array_equal(B, before[1])


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 3, 131), (35, 79, 19), (64, 64, 64), (65, 33, 17), (33, 70, 8)])
@pytest.mark.parametrize("kernel", KERNELS[::2] + [gl.SharedTiling(32)], ids=str)
def test_ragged_shapes(kernel, shape):
    A, B, C = problem(*shape, seed=sum(shape))
    want = 1.5 * (A.astype(float) @ B) - 0.5 * C
    bound = (shape[2] + 4) * 2.0**-23 * (1.5 * np.abs(A).astype(float) @ np.abs(B) + 0.5 * np.abs(C))
    done = launch(kernel, A, B, C, 1.5, -0.5, mode="check")
    assert done.completed and done.findings == ()
    assert (np.abs(C - want) <= bound).all()


def test_all_modes_agree():
    A, B, C = problem(40, 50, 30)
    results = {}
    for mode in ("values", "count", "check"):
        results[mode] = C.copy()
        done = launch(gl.RegisterTiling1D(16, 32, 4, 4), A, B, results[mode], mode=mode)
        counts = done.counts if mode != "values" else None
        results[mode, "counts"] = counts
    assert np.array_equal(results["values"], results["count"]) and np.array_equal(results["values"], results["check"])
    assert results["count", "counts"] == results["check", "counts"] != None    # noqa: E711


@pytest.mark.parametrize("schedule", ["lockstep", "warps", (3, 1), (1, 1, 0, 2, 3, 3), range(4)])
def test_a_correct_kernel_gives_the_same_in_every_order(schedule):
    kernel = gl.SharedTiling(8)
    A, B, C = problem(20, 30, 25)
    want = C.copy()
    order = schedule if isinstance(schedule, str) else [w % 2 for w in schedule]    # 64 threads: warps 0 and 1
    counts = launch(kernel, A, B, want).counts
    done = launch(kernel, A, B, C, mode="check", schedule=order)
    assert np.array_equal(C, want) and done.counts == counts and done.findings == ()


@pytest.mark.parametrize("barrier, is_nan", [(FIRST_BARRIER, True), (SECOND_BARRIER, False)])
def test_without_a_barrier_the_result_depends_on_the_order(barrier, is_nan):
    kernel = gl.SharedTiling(16)
    assert kernel.source.count(barrier) == 1
    broken = kernel.source.replace(barrier, "\n")
    A, B, C = problem(32, 48, 40)
    right, lockstep, warps, by_hand = C.copy(), C.copy(), C.copy(), C.copy()
    launch(kernel, A, B, right)
    launch(kernel, A, B, lockstep, source=broken)
    assert np.array_equal(lockstep, right), "lockstep hides the defect"
    launch(kernel, A, B, warps, source=broken, schedule="warps")
    launch(kernel, A, B, by_hand, source=broken, schedule=(*range(8), *reversed(range(8))))
    for wrong in (warps, by_hand):
        assert not np.array_equal(wrong, right)
        assert np.isnan(wrong).any() == is_nan, "uninitialised shared memory reads as NaN"
    assert not np.array_equal(warps, by_hand, equal_nan=True)


@pytest.mark.parametrize("barrier", [FIRST_BARRIER, SECOND_BARRIER])
@pytest.mark.parametrize("schedule", ["lockstep", "warps"])
def test_a_missing_barrier_is_a_race_between_the_stores_and_the_loads(barrier, schedule):
    kernel = gl.SharedTiling(16)
    broken = kernel.source.replace(barrier, "\n")
    lines = broken.splitlines()
    stores = {n for n, text in enumerate(lines, 1) if text.strip().startswith(("As[ty][tx] =", "Bs[ty][tx] ="))}
    load = next(n for n, text in enumerate(lines, 1) if "acc += As[ty][k] * Bs[k][tx]" in text)
    A, B, C = problem(16, 16, 32)
    done = launch(kernel, A, B, C, mode="check", source=broken, schedule=schedule)
    races = [f for f in done.findings if f.kind == "race"]
    assert {frozenset(f.lines) for f in races} == {frozenset((store, load)) for store in stores}
    for race in races:
        assert race.message.count("thread (") == 2 and ("of As" in race.message) != ("of Bs" in race.message)


def test_the_second_barrier_is_harmless_to_drop_where_one_tile_is_enough():
    kernel = gl.SharedTiling(16)
    A, B, C = problem(16, 16, 16)
    want = A.astype(float) @ B
    done = launch(kernel, A, B, C, mode="check", source=kernel.source.replace(SECOND_BARRIER, "\n"), schedule="warps")
    assert done.findings == () and np.abs(C - want).max() < 1e-4


def test_nothing_is_left_over_from_the_block_before(monkeypatch):
    """Each block finds its shared memory uninitialised, also if another block ran before it in the same batch."""
    from gemm_lab.emulator import machine
    kernel = gl.SharedTiling(8)
    broken = kernel.source.replace(FIRST_BARRIER, "\n")
    A, B, C = problem(32, 8, 8)
    for lanes in (64, 8192):
        monkeypatch.setattr(machine, "LANES", lanes)
        C[:] = 0
        launch(kernel, A, B, C, source=broken, schedule="warps")
        assert np.isnan(C).any(axis=1).reshape(4, 8)[:, :4].all()


def test_nan_and_infinity_go_through():
    A, B, C = problem(20, 20, 20)
    A[3, 4], B[7, 9] = np.nan, np.inf
    launch(gl.SharedTiling(8), A, B, C)
    want = A.astype(np.float64) @ B
    assert np.array_equal(np.isnan(C), np.isnan(want)) and np.array_equal(np.isinf(C), np.isinf(want))
    assert set(C[np.isnan(C)].view(np.uint32)) == {0x7FFFFFFF}
