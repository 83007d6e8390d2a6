"""Kernels as objects: parameters, geometry, sources, messages; and values on ragged shapes."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.kernels import kernel_file

COURSE = [gl.Naive(), gl.Naive(False), gl.Naive(True, (8, 32)),
          gl.SharedTiling(32), gl.SharedTiling(16, 1), gl.SharedTiling(5),
          gl.RegisterTiling1D(), gl.RegisterTiling1D(64, 64, 8, 8, True), gl.RegisterTiling1D(8, 4, 4, 4),
          gl.RegisterTiling1D(16, 16, 4, 4), gl.RegisterTiling1D(12, 10, 7, 3),
          gl.PipelinedTiling1D(32, 32, 8, 16), gl.RegisterTiling2D(16, 16, 4, 4, 4), gl.WarpTiling(32, 32, 8, 4, 4),
          gl.Pipelining(32, 32, 8, 4, 4), gl.Reordering(32, 32, 8, 4, 4), gl.SlicedK(32, 32, 16, 4, 4, SLICES=2),
          gl.SplitK(32, 32, 8, 4, 4, SPLITS=2, BLOCKS=1)]


@pytest.mark.parametrize("kernel", COURSE, ids=str)
@pytest.mark.parametrize("M, N, K", [(1, 1, 1), (33, 70, 17), (65, 31, 40)])
@pytest.mark.parametrize("alpha, beta", [(1.0, 0.0), (-0.5, 2.0)])
def test_values(kernel, M, N, K, alpha, beta):
    """Against float64, with the tolerance of K roundings; at beta = 0 C holds NaN and must not be read."""
    random = np.random.default_rng(M + N + K)
    A, B = random.standard_normal((M, K), dtype=np.float32), random.standard_normal((K, N), dtype=np.float32)
    C = np.full((M, N), np.nan, np.float32) if beta == 0 else random.standard_normal((M, N), dtype=np.float32)
    A0, B0, C0 = A.copy(), B.copy(), C.copy()
    run = kernel.run(A, B, C, alpha, beta, mode="values", backend="emulator")
    want = alpha * (A.astype(float) @ B) + (beta * C.astype(float) if beta else 0)
    size = abs(alpha) * (np.abs(A).astype(float) @ np.abs(B)) + (abs(beta) * np.abs(C) if beta else 0)
    bound = (K + 4) * 2.0**-24 * size
    assert np.all(np.abs(run.C - want) <= bound)
    for now, before in ((A, A0), (B, B0), (C, C0)):
        assert np.array_equal(now, before, equal_nan=True)


def test_nan_in_the_input_propagates():
    A, B = np.ones((40, 40), np.float32), np.ones((40, 40), np.float32)
    A[3, 5] = np.nan
    for kernel in (gl.Naive(), gl.SharedTiling(16), gl.RegisterTiling1D(16, 16, 8, 4)):
        C = kernel.run(A, B, mode="values", backend="emulator").C
        assert np.isnan(C[3]).all() and np.isfinite(np.delete(C, 3, axis=0)).all()


@pytest.mark.parametrize("make, words", [
    (lambda: gl.SharedTiling(33), "TILE\\*TILE = 1089 threads; a block has at most 1024"),
    (lambda: gl.SharedTiling(0), "TILE is 0; it must be a whole number, 1 or more"),
    (lambda: gl.SharedTiling(32.0), "TILE is 32.0"),
    (lambda: gl.SharedTiling(32, -1), "PAD is -1"),
    (lambda: gl.SharedTiling(32, 400), "bytes of shared memory; a block has at most 49152"),
    (lambda: gl.RegisterTiling1D(64, 64, 8, 7), "BM = 64 is not a multiple of TM = 7"),
    (lambda: gl.RegisterTiling1D(128, 128, 8, 8), "BM\\*BN/TM = 2048 threads; a block has at most 1024"),
    (lambda: gl.RegisterTiling1D(8, 4, 32, 8), "4 threads are fewer than BK = 32"),
    (lambda: gl.RegisterTiling1D(128, 64, 128, 8), "bytes of shared memory"),
    (lambda: gl.Naive(block=(64, 32)), "2048 threads"),
    (lambda: gl.Naive(block=(4, 4, 4)), "z = 4"),
    (lambda: gl.Naive(block=0), "block is 0"), (lambda: gl.Naive(block=None), "block is None"),
    (lambda: gl.Naive(block=1.5), "block is 1.5"), (lambda: gl.Naive(block=True), "block is True"),
    (lambda: gl.Naive(coalesced="False"), "coalesced is 'False'; it must be True or False"),
    (lambda: gl.RegisterTiling1D(strided_loader=1), "strided_loader is 1"),
    (lambda: gl.SharedTiling().counts(-1, 4, 4), "M is -1; it must be a whole number"),
    (lambda: gl.Naive().counts(4, 1.5, 4), "N is 1.5"), (lambda: gl.RegisterTiling1D().counts(4, 4, 0), "K is 0"),
    (lambda: gl.CudaGemm("void k() {}", None, lambda M, N: 1, 32), "entry is None"),
    (lambda: gl.CudaGemm(None, "k", lambda M, N: 1, 32), "source is a NoneType"),
    (lambda: gl.CudaGemm("void k() {}", "k", lambda M, N: None, 32).launch_grid(1, 1), "grid of k .* is None"),
    (lambda: gl.CudaGemm("__global__ void k() {}", "k", (1, 1), 32), "grid is \\(1, 1\\); it must be a function"),
    (lambda: gl.CudaGemm("__global__ void k() {}", "k", lambda M, N: 1, 32, shared_bytes=-4), "shared_bytes is -4"),
])
def test_bad_parameters(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_geometry():
    assert gl.Naive().grid(65, 33) == (2, 3, 1)
    assert gl.Naive(False).grid(65, 33) == (3, 2, 1)       # x walks rows there
    assert gl.RegisterTiling1D(64, 32, 8, 8).grid(65, 33) == (2, 2, 1)
    assert gl.RegisterTiling1D(64, 32, 8, 8).block == (256, 1, 1)
    assert gl.CudaGemm("__global__ void k() {}", "k", lambda M, N: M, block=(8, 4)).block == (8, 4, 1)


def test_numpy_integers_are_whole_numbers():
    assert gl.SharedTiling(np.int64(16)).entry == "shared_tiling<16, 0>"
    assert gl.Naive(block=np.int32(64)).block == (64, 1, 1)
    rounded_up = gl.CudaGemm("void k() {}", "k", lambda M, N: (np.int64(2), np.int64(M)), 32)
    assert rounded_up.launch_grid(3, 5) == (2, 3, 1)
    assert gl.Naive().counts(np.int64(2), np.int64(3), np.int64(4)).fma == 24


def test_grid_limit_is_named():
    A, B = np.zeros((65536 * 2 + 1, 1), np.float32), np.zeros((1, 1), np.float32)
    with pytest.raises(ValueError, match="65537 blocks along y; a grid has at most 65535"):
        gl.Naive(block=(1, 2)).run(A, B)


def test_kernels_are_frozen_and_their_labels_are_short():
    with pytest.raises(FrozenInstanceError):
        gl.SharedTiling(16).TILE = 8
    assert gl.SharedTiling(16).label == "SharedTiling(TILE=16)"
    assert gl.SharedTiling(16, 1).label == "SharedTiling(TILE=16, PAD=1)"
    assert len({k.label for k in COURSE}) == len(COURSE)


def test_every_entry_is_declared_in_its_file():
    for kernel in COURSE:
        name = kernel.entry.split("<")[0]
        signature = "int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C"
        assert f"{name}({signature})" in kernel.source


def test_offsets_are_64_bit_in_the_ptx():
    """No address is the product of 32-bit numbers: every global access's index passes through 64-bit arithmetic.

    A 32-bit multiplication by K or N (ld.param's registers) followed by a widening would wrap past 2^31 elements.
    """
    from gemm_lab.compiler import compile_ptx
    for kernel in COURSE:
        text = compile_ptx(kernel.source, kernel.entry).text
        loads = re.findall(r"ld\.param\.u32\s+(%r\d+), \[\w+_param_([012])\]", text)    # a size may be loaded anew
        sizes = {register for register, _ in loads}
        assert {number for _, number in loads} == set("012")
        for op, operands in re.findall(r"(mul\.lo\.s32|mad\.lo\.s32|mul\.lo\.u32|mad\.lo\.u32)\s+([^;]+);", text):
            factors = operands.split(", ")[1:3]    # after the result; a sum's addend comes last
            assert not sizes & set(factors), f"{kernel}: 32-bit {op} {operands}"


def test_missing_kernel_file_says_where_it_should_be():
    with pytest.raises(FileNotFoundError, match="99_gone.cu is neither in .* restore the file"):
        kernel_file("99_gone.cu")


def test_with_source_takes_text_or_path(tmp_path):
    path = tmp_path / "mine.cu"
    path.write_text(gl.SharedTiling(16).source)
    kernel = gl.SharedTiling(16).with_source(path)
    assert kernel.source == path.read_text() and kernel.block == (16, 16, 1) and kernel.entry == "shared_tiling<16, 0>"
    with pytest.raises(FileNotFoundError, match="neither CUDA C\\+\\+ text nor the path of a file"):
        gl.SharedTiling(16).with_source(tmp_path / "gone.cu")


def test_edited_refuses_an_ambiguous_piece():
    with pytest.raises(ValueError, match="occurs 2 times"):
        gl.SharedTiling(16).edited(("__syncthreads();", ""))
    with pytest.raises(ValueError, match="occurs 0 times"):
        gl.SharedTiling(16).edited(("no such text", ""))
    kernel = gl.SharedTiling(16).edited(("float acc = 0.0f;", "float acc = 1.0f;"), label="one more")
    assert kernel.label == "one more"
    assert float(kernel.run(np.ones((1, 1), np.float32), np.ones((1, 1), np.float32)).C[0, 0]) == 2.0
