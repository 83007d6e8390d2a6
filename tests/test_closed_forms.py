"""The counts on paper: hand-worked examples, and equality with what the executed kernels did."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemm_lab.counts import Counts
from gemm_lab.kernels import Naive, RegisterTiling1D, SharedTiling
from gemm_lab.ladder import PipelinedTiling1D, Pipelining, RegisterTiling2D, Reordering, SlicedK, SplitK, WarpTiling

DERIVED = ("fma", "global_load_words", "global_store_words", "shared_load_words", "shared_store_words",
           "local_load_words", "local_store_words")
sizes = st.integers(1, 70)


def test_naive_by_hand():
    """2 x 3 outputs, K = 4: each of 6 threads reads 4 words of A and 4 of B and does 4 FMAs."""
    counts = Naive().counts(2, 3, 4)
    assert (counts.fma, counts.global_load_words, counts.global_store_words) == (24, 48, 6)


def test_beta_reads_c_once_and_adds_one_fma_each():
    counts = Naive().counts(2, 3, 4, beta=0.5)
    assert (counts.fma, counts.global_load_words) == (30, 54)


def test_shared_tiling_by_hand():
    """M=3, N=2, K=3 with TILE=2: 2 x 1 blocks of 4 threads, 2 steps.

    Every element of A (9) is loaded once (one column of blocks), every element of B (6) twice (two rows of blocks).
    8 threads x 2 steps: 2 words stored, 2 k-steps of 2 words read and 1 FMA.
    """
    counts = SharedTiling(2).counts(3, 2, 3)
    assert counts.global_load_words == 9 + 2 * 6
    assert (counts.shared_store_words, counts.shared_load_words, counts.fma) == (32, 64, 32)


def test_register_tiling_by_hand():
    """One block of 8 threads (BM=8, BN=4, TM=4), K=8 in 2 steps of 4: in each of 8 k-steps a thread reads 5 words."""
    counts = RegisterTiling1D(8, 4, 4, 4).counts(8, 4, 8)
    assert counts.shared_load_words == 8 * 8 * 5
    assert counts.fma == 8 * 8 * 4
    assert counts.shared_store_words == 8 * 8 + 8 * 4
    assert counts.global_load_words == 8 * 8 + 8 * 4


def test_register_tiling_2d_by_hand():
    """One block of 4 threads (8 x 8, each 4 x 4), K = 4 in one step: in each of 4 k-steps a thread reads 8 words."""
    counts = RegisterTiling2D(8, 8, 4, 4, 4).counts(8, 8, 4)
    assert (counts.shared_load_words, counts.fma) == (4 * 4 * 8, 4 * 4 * 16)
    assert counts.shared_store_words == counts.global_load_words == 8 * 4 + 4 * 8


def test_split_k_by_hand():
    """One tile of 16 x 32, K = 8 in one step of 8, shared by 2 blocks of a warp: the second multiplies zeros.

    Each block: 8 k-steps x 32 threads x 16 FMAs and 8 words read; 8 * 48 words stored in shared memory, 1 for `last`,
    which 32 threads read; 512 sums stored. The last one reads 1024 sums, stores C, and sets the counter back.
    """
    counts = SplitK(16, 32, 8, 4, 4, SPLITS=2, BLOCKS=1).counts(16, 32, 8)
    assert counts.fma == 2 * 8 * 32 * 16
    assert (counts.shared_load_words, counts.shared_store_words) == (2 * (8 * 32 * 8 + 32), 2 * (8 * 48 + 1))
    assert (counts.global_load_words, counts.global_store_words) == (16 * 8 + 8 * 32 + 1024, 2 * 512 + 512 + 1)


def test_the_course_claims_about_words():
    """A tile of 32 cuts 2048 words per output to 64 at N = 1024; TM = 8 needs 1.125 shared words for an FMA."""
    n = 1024
    assert Naive().counts(n, n, n).global_load_words == 2048 * n * n
    assert SharedTiling(32).counts(n, n, n).global_load_words == 64 * n * n
    assert RegisterTiling1D(TM=8).counts(n, n, n).shared_loads_per_fma == 1.125


def executed(kernel, M: int, N: int, K: int, beta: float) -> Counts:
    random = np.random.default_rng(0)
    A, B, C = (random.standard_normal(s, dtype=np.float32) for s in ((M, K), (K, N), (M, N)))
    run = kernel.run(A, B, C, beta=beta)
    assert run.completed and not run.findings
    return run.counts


def assert_equal(kernel, M, N, K, beta):
    derived, counted = kernel.counts(M, N, K, beta), executed(kernel, M, N, K, beta)
    assert {name: getattr(derived, name) for name in DERIVED} == {name: getattr(counted, name) for name in DERIVED}
    assert all(getattr(derived, f.name) is None for f in fields(Counts) if f.name not in DERIVED)


betas = st.sampled_from([0.0, 0.5])


@settings(max_examples=20, deadline=None, derandomize=True)
@given(sizes, sizes, sizes, betas, st.booleans(), st.integers(1, 32), st.integers(1, 32))
def test_naive_equals_execution(M, N, K, beta, coalesced, x, y):
    assert_equal(Naive(coalesced, (x, y)), M, N, K, beta)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(sizes, sizes, sizes, betas, st.integers(1, 32), st.integers(0, 4))
def test_shared_tiling_equals_execution(M, N, K, beta, tile, pad):
    assert_equal(SharedTiling(tile, pad), M, N, K, beta)


@st.composite
def register_tilings(draw):
    TM = draw(st.integers(1, 9))
    BM = TM * draw(st.integers(1, 9))
    BN = draw(st.integers(1, min(40, 1024 * TM // BM)))
    BK = draw(st.integers(1, min(24, BM * BN // TM)))
    return RegisterTiling1D(BM, BN, BK, TM, draw(st.booleans()))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(register_tilings(), sizes, sizes, sizes, betas)
def test_register_tiling_equals_execution(kernel, M, N, K, beta):
    assert_equal(kernel, M, N, K, beta)


TILED_2D = [PipelinedTiling1D(32, 32, 8, 16), PipelinedTiling1D(32, 32, 8, 16, STAGES=3),
            RegisterTiling2D(8, 8, 4, 4, 4), RegisterTiling2D(16, 32, 8, 4, 8), WarpTiling(16, 32, 8, 4, 4),
            Pipelining(32, 32, 8, 4, 4),
            Reordering(32, 32, 16, 4, 4, STAGES=3, BLOCKS=1, STRIP=2),
            SlicedK(32, 32, 16, 4, 4, SLICES=2, BLOCKS=1), SlicedK(16, 32, 32, 4, 4, SLICES=4, BLOCKS=1),
            SplitK(32, 32, 16, 4, 4, SPLITS=4, BLOCKS=1), SplitK(32, 32, 16, 4, 4, SPLITS=3, BLOCKS=1),
            SplitK(16, 32, 8, 4, 4, SPLITS=2, BLOCKS=1, share=3)]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(TILED_2D), sizes, sizes, sizes, betas)
def test_the_later_kernels_equal_execution(kernel, M, N, K, beta):
    assert_equal(kernel, M, N, K, beta)


def test_paper_needs_neither_compiler_nor_emulator():
    code = ("import sys, gemm_lab.closed_forms; "
            "print([m for m in sys.modules if m.startswith('gemm_lab.') and m != 'gemm_lab.closed_forms'])")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['gemm_lab.counts']"


@pytest.mark.parametrize("strided", [False, True])
def test_both_loaders_move_the_same_words(strided):
    assert_equal(RegisterTiling1D(16, 12, 5, 4, strided), 37, 29, 23, 0.0)


@pytest.mark.parametrize("kernel", [Naive(), SharedTiling(8), RegisterTiling1D(), *TILED_2D], ids=lambda k: k.label)
def test_numbers_of_numpy_do_not_overflow(kernel):
    assert kernel.counts(*[np.int32(40_000)] * 3) == kernel.counts(40_000, 40_000, 40_000)
    assert kernel.counts(40_000, 40_000, 40_000).fma >= 40_000**3


def test_tiles_of_numpy_do_not_overflow():
    assert RegisterTiling2D(TN=np.int8(8), BK=np.uint8(8)) == RegisterTiling2D()
    with pytest.raises(ValueError, match="bytes of shared memory"):
        PipelinedTiling1D(STAGES=np.uint8(128))
    with pytest.raises(ValueError, match="SPLITS = 1000000000; it may be 16 at most"):
        SplitK(SPLITS=10**9)
