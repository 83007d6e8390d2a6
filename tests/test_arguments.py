"""What the public functions are given instead of kernels and sizes, and what they say of it."""

from __future__ import annotations

import inspect
from math import nan

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.arguments import checked_kernels, checked_sizes

KERNEL = gl.SharedTiling(TILE=16)

# Every public function of a kernel, of one or several, of a class, and of sizes.
OF_A_KERNEL = {
    "occupancy": lambda k: gl.occupancy(k, "H200"),
    "roofline": lambda k: gl.roofline(k, 8, 8, 8, "H200"),
    "annotate": lambda k: gl.annotate(k, 8, 8, 8),
    "compare_counters": lambda k: gl.compare_counters(k, 8, 8, 8),
    "show_source": gl.show_source,
    "show_diff": lambda k: gl.show_diff(KERNEL, k),
    "show_sass": gl.show_sass,
    "visualize": lambda k: gl.visualize(k, 8, 8, 8),
}
OF_SEVERAL = {
    "plot_reads": lambda k: gl.plot_reads(k, 8, 8, 8),
    "plot_roofline": lambda k: gl.plot_roofline(k, 8, 8, 8),
    "benchmark": gl.benchmark,
    "visualize_compare": lambda k: gl.visualize_compare(k, M=8, N=8, K=8),
}
OF_SIZES = {
    "roofline": lambda M, N, K: gl.roofline(KERNEL, M, N, K, "H200"),
    "annotate": lambda M, N, K: gl.annotate(KERNEL, M, N, K),
    "compare_counters": lambda M, N, K: gl.compare_counters(KERNEL, M, N, K),
    "plot_reads": lambda M, N, K: gl.plot_reads(KERNEL, M, N, K),
    "plot_roofline": lambda M, N, K: gl.plot_roofline(KERNEL, M, N, K),
    "explore_tiles": lambda M, N, K: gl.explore_tiles(gl.SharedTiling, M, N, K),
    "visualize": lambda M, N, K: gl.visualize(gl.SharedTiling(TILE=8), M, N, K),
    "visualize_compare": lambda M, N, K: gl.visualize_compare(KERNEL, gl.SharedTiling(TILE=8), M=M, N=N, K=K),
    "best": gl.best,
    "gemm_flops": gl.gemm_flops,
    "matrix_bytes": gl.matrix_bytes,
}


def test_every_public_function_of_a_kernel_or_of_sizes_is_in_the_tables_above():
    def parameters(name):
        return list(inspect.signature(getattr(gl, name)).parameters)
    functions = [name for name in gl.__all__ if inspect.isfunction(getattr(gl, name))]
    first = {name: next(iter(parameters(name)), "") for name in functions}
    assert {n for n in functions if first[n] in ("kernel", "before")} - {"check"} == set(OF_A_KERNEL)
    assert {n for n in functions if first[n] == "kernels"} - {"plot_stalls"} == set(OF_SEVERAL)    # labels, too
    assert {n for n in functions if set("MNK") <= set(parameters(n))} == set(OF_SIZES)


@pytest.mark.parametrize(("bad", "what"), [
    (None, "None"), ("abc", "a str"), (7, "an int"), (1.5, "a float"), ([KERNEL], "a list"), ({}, "a dict"),
    (gl.Naive, "the class Naive")])
@pytest.mark.parametrize("call", OF_A_KERNEL.values(), ids=OF_A_KERNEL)
def test_what_is_no_kernel(call, bad, what):
    with pytest.raises(ValueError, match=rf"^(kernel|after) is {what}; it must be a kernel such as gl\.SharedTiling"):
        call(bad)


@pytest.mark.parametrize(("bad", "what"), [
    (None, "kernels is None; it must"), ("abc", "kernels is a str; it must"), (gl.Naive, "kernels is the class Naive"),
    ([], "kernels is empty; give"), ((), "kernels is empty; give"), ([KERNEL, None], r"kernels\[1\] is None; it must"),
    ([[KERNEL]], r"kernels\[0\] is a list; it must")])
@pytest.mark.parametrize("call", OF_SEVERAL.values(), ids=OF_SEVERAL)
def test_what_is_neither_a_kernel_nor_several(call, bad, what):
    with pytest.raises(ValueError, match=f"^{what} .*such as gl.SharedTiling" if bad is not gl.Naive else what):
        call(bad)


def test_one_kernel_and_any_collection_of_them_are_a_list():
    assert checked_kernels(KERNEL) == checked_kernels((KERNEL,)) == checked_kernels(k for k in [KERNEL]) == [KERNEL]


@pytest.mark.parametrize(("bad", "what"), [
    (None, "None"), ("abc", "a str"), (int, "the class int"), (gl.Naive().__class__.__mro__[2], "the class GemmKernel"),
    (gl.Naive(), r"the kernel Naive\(coalesced=True\).*here Naive without parentheses")])
def test_what_is_no_class_of_kernels(bad, what):
    with pytest.raises(ValueError, match=f"^kernel_class is {what}") as caught:
        gl.explore_tiles(bad, 64, 64, 64)
    assert "a class of kernels such as gl.SharedTiling" in str(caught.value)


@pytest.mark.parametrize("bad", [0, -1, nan, 2.0, np.float64(8), "8", None, True, np.bool_(True), [8], 1j])
@pytest.mark.parametrize("place", "MNK")
@pytest.mark.parametrize("call", OF_SIZES.values(), ids=OF_SIZES)
def test_what_is_no_size(call, place, bad):
    with pytest.raises(ValueError, match=f"^{place} is .*; it must be a whole number, 1 or more"):
        call(**{name: bad if name == place else 8 for name in "MNK"})


@pytest.mark.parametrize("integer", [np.int8, np.int32, np.uint64])
@pytest.mark.parametrize("name", sorted(set(OF_SIZES) - {"compare_counters"}))
def test_integers_of_numpy_are_sizes(name, integer):
    assert repr(OF_SIZES[name](integer(8), integer(9), integer(10))) == repr(OF_SIZES[name](8, 9, 10))


def test_products_of_numpys_sizes_do_not_overflow():
    assert gl.gemm_flops(*map(np.int32, (4096, 4096, 4096))) == 2 * 4096**3
    assert gl.roofline(KERNEL, np.int16(4096), np.int16(4096), np.int16(4096), "H200").flops == 2 * 4096**3
    assert all(type(n) is int for n in checked_sizes(*np.arange(1, 4)))
