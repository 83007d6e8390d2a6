"""`kernel.run`: arguments that do not fit get one clear message, before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

import gemm_lab as gl

ONE = np.ones((2, 2), np.float32)


@pytest.mark.parametrize("A, B, C, beta, words", [
    (ONE.astype(float), ONE, None, 0, "A has dtype float64; it must be float32"),
    (ONE, ONE.astype(np.int32), None, 0, "B has dtype int32"),
    (ONE.astype(">f4"), ONE, None, 0, "A has dtype >f4"),
    ([[1.0]], ONE, None, 0, "A is a list; it must be a NumPy array"),
    (np.ones((2, 4), np.float32)[:, ::2], ONE, None, 0, "A is not row-major without gaps"),
    (np.asfortranarray(np.ones((2, 3), np.float32)), np.ones((3, 2), np.float32), None, 0, "A is not row-major"),
    (np.ones(4, np.float32), ONE, None, 0, "A has shape \\(4,\\); it must have two dimensions"),
    (np.ones((0, 2), np.float32), ONE, None, 0, "A has shape \\(0, 2\\); each size must be at least 1"),
    (ONE, np.ones((3, 2), np.float32), None, 0, "A is 2x2 and B is 3x2; A must have as many columns as B has rows"),
    (ONE, ONE, None, 0.5, "beta is 0.5 and C is missing"),
    (ONE, ONE, np.ones((2, 3), np.float32), 1, "C is 2x3; for A 2x2 and B 2x2 it must be 2x2"),
])
def test_matrices_that_do_not_fit(A, B, C, beta, words):
    with pytest.raises(ValueError, match=words):
        gl.Naive().run(A, B, C, beta=beta)


def test_sizes_beyond_an_int_are_refused():
    huge = np.lib.stride_tricks.as_strided(np.zeros((1, 1), np.float32), (1, 2**31), (4, 4))
    with pytest.raises(ValueError, match="a size is at most 2147482623"):
        gl.Naive().run(huge, ONE)


def test_hours_of_emulation_are_refused():
    n = 4097
    with pytest.raises(ValueError, match="69 billion FMAs; the emulator takes at most"):
        gl.Naive().run(np.zeros((n, n), np.float32), np.zeros((n, n), np.float32))


@pytest.mark.parametrize("mode", ["count", "check"])
def test_a_gpu_neither_counts_nor_checks(mode):
    with pytest.raises(ValueError, match=f"backend 'gpu' cannot {mode}"):
        gl.Naive().run(ONE, ONE, backend="gpu", mode=mode)


def test_unknown_backend():
    with pytest.raises(ValueError, match="backend is 'cpu'; it must be None, 'emulator' or 'gpu'"):
        gl.Naive().run(ONE, ONE, backend="cpu")


def test_one_array_may_be_both_a_and_b():
    X = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert np.array_equal(gl.Naive().run(X, X).C, X @ X)
