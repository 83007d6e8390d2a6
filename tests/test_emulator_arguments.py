"""What `emulate` accepts, and what it says about the rest."""

from __future__ import annotations

import numpy as np
import pytest

from gemm_lab.compiler import CompileError
from gemm_lab.emulator import emulate
from gemm_lab.emulator.arguments import signature

SOURCE = """
__global__ void axpy(int n, float a, const float *x, float *y, unsigned short offset = 0) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i + offset];
}
__global__ void wide(long long a, size_t b, double c, double *d) { d[0] = a + b + c; }
template <typename T, int N> __global__ void filled(T *out) { out[threadIdx.x] = N; }
__global__ void __launch_bounds__(64) bounded(float *x) { x[threadIdx.x] = 1; }
__global__ void big(float *x) { __shared__ float s[13000]; s[threadIdx.x] = 1; __syncthreads(); x[threadIdx.x] = s[0]; }
"""


def axpy(*changes, grid=1, block=32, entry="axpy", **options):
    """Run axpy with some arguments replaced: (position, value) pairs."""
    args = [32, 2.0, np.ones(32, np.float32), np.zeros(32, np.float32), 0]
    for position, value in changes:
        args[position] = value
    return emulate(SOURCE, entry, grid, block, args, **options)


def test_it_runs():
    y = np.ones(32, np.float32)
    done = axpy((3, y))
    assert done.completed and (y == 3).all() and done.backend == "emulator" and done.C is None and done.seconds > 0


@pytest.mark.parametrize("n", [32, np.int64(32), np.int32(32), np.array(32), True])
def test_whole_numbers_of_any_kind(n):
    assert axpy((0, n)).completed


@pytest.mark.parametrize("position, value, words", [
    (0, 2.5, ["argument n (int n)", "2.5", "whole number"]),
    (0, 2**31, ["argument n", "2147483648", "int32 holds -2147483648 to 2147483647"]),
    (0, None, ["argument n", "None", "a number"]),
    (0, "32", ["argument n", "a str", "a number"]),
    (0, np.ones(3, np.float32), ["argument n", "an array of float32", "a number"]),
    (1, 1e39, ["argument a", "too large for float32"]),
    (2, None, ["argument x (const float *x)", "None", "a NumPy array"]),
    (2, 0, ["argument x", "a int", "a NumPy array"]),
    (2, [1.0] * 32, ["argument x", "a list", "a NumPy array"]),
    (2, np.ones(32), ["argument x", "float64", "float32"]),
    (3, np.zeros(32, np.int32), ["argument y", "int32", "float32"]),
    (2, np.ones((32, 2), np.float32)[:, 0], ["argument x", "C-contiguous", "ascontiguousarray"]),
    (2, np.ones((8, 4), np.float32).T, ["argument x", "C-contiguous"]),
    (2, np.ones(32, ">f4"), ["argument x", ">f4"]),
    (4, 2**16, ["argument offset (unsigned short offset)", "65536", "0 to 65535"]),
    (4, -1, ["argument offset", "-1"]),
])
def test_arguments_that_do_not_fit(position, value, words):
    with pytest.raises(ValueError) as problem:
        axpy((position, value))
    assert all(w in str(problem.value) for w in words), str(problem.value)


def test_the_number_of_arguments():
    with pytest.raises(ValueError, match=r"4 arguments were given; the kernel takes 5 \(int n, float a, const"):
        emulate(SOURCE, "axpy", 1, 32, [1, 2.0, np.ones(1, np.float32), np.ones(1, np.float32)])


def test_an_array_that_is_read_may_be_read_only_one_that_is_written_may_not():
    x = np.ones(32, np.float32)
    x.flags.writeable = False
    assert axpy((2, x)).completed
    with pytest.raises(ValueError, match="line 4: the kernel writes to y, but that array is read-only"):
        axpy((3, x))


def test_infinite_and_large_numbers():
    y = np.zeros(32, np.float32)
    axpy((1, np.inf), (3, y))
    assert np.isinf(y).all()
    d = np.zeros(1)
    emulate(SOURCE, "wide", 1, 1, (-2**63, 2**64 - 1, 0.5, d))
    assert d[0] == float(2**63 - 1) + 0.5
    for value in (2**63, -2**63 - 1):
        with pytest.raises(ValueError, match="argument a"):
            emulate(SOURCE, "wide", 1, 1, (value, 0, 0.0, d))


@pytest.mark.parametrize("option, words", [
    ({"mode": "fast"}, ["mode is 'fast'", "values", "count", "check", "trace"]),
    ({"grid": 0}, ["grid", "0 along x"]), ({"grid": (1, 65536)}, ["65536 along y", "65535"]),
    ({"grid": (1, 1, 70000)}, ["along z"]), ({"grid": 2.0}, ["grid is 2.0"]), ({"grid": (1, 1, 1, 1)}, ["up to three"]),
    ({"grid": True}, ["grid is True"]), ({"grid": ()}, ["grid is ()"]),
    ({"block": 1025}, ["1025 along x", "1024"]), ({"block": (32, 33)}, ["1056 threads", "at most 1024"]),
    ({"block": (1, 1, 65)}, ["65 along z", "64"]), ({"block": -1}, ["-1 along x"]),
    ({"shared_bytes": -4}, ["shared_bytes is -4"]), ({"shared_bytes": 10**6}, ["shared_bytes is 1000000"]),
    ({"step_limit": 0}, ["step_limit is 0"]), ({"step_limit": 1.5}, ["step_limit is 1.5"]),
    ({"schedule": "random"}, ["schedule is 'random'", "lockstep", "warps"]), ({"schedule": None}, ["schedule is None"]),
    ({"schedule": (0, 1)}, ["warp 1", "1 warps"]), ({"schedule": (0.5,)}, ["schedule is (0.5,)"]),
])
def test_options_that_do_not_exist(option, words):
    with pytest.raises(ValueError) as problem:
        axpy(**option)
    assert all(w in str(problem.value) for w in words), str(problem.value)


def test_an_unknown_kernel_and_a_source_that_does_not_compile():
    with pytest.raises(ValueError, match="axpy"):
        axpy(entry="saxpy")
    with pytest.raises(CompileError):
        emulate("__global__ void k() { int x = ; }", "k", 1, 1, ())


def test_launch_bounds_and_static_shared_memory():
    x = np.zeros(128, np.float32)
    assert emulate(SOURCE, "bounded", 1, 64, (x,)).completed
    with pytest.raises(ValueError, match="launch_bounds"):
        emulate(SOURCE, "bounded", 1, 65, (x,))
    with pytest.raises(ValueError, match="52000 bytes of shared memory; a block has at most 49152"):
        emulate(SOURCE, "big", 1, 32, (x,))


@pytest.mark.parametrize("entry, dtype", [("filled<float, 7>", np.float32), ("filled<int, 7>", np.int32)])
def test_template_kernels(entry, dtype):
    out = np.zeros(32, dtype)
    assert emulate(SOURCE, entry, 1, 32, (out,)).completed and (out == 7).all()


def test_choosing_a_back_end(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "cuda")
    with pytest.raises(ValueError, match="'numpy' or 'llvm'"):
        axpy()
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "numpy")
    assert axpy().completed


def test_no_warnings_leak(recwarn):
    axpy((2, np.array([np.inf, np.nan, 1e38] + [0] * 29, np.float32)), (1, 1e10), mode="check")
    assert not recwarn.list


@pytest.mark.parametrize("text, wanted", [
    ("__global__ void k(int M, const float *A, float* __restrict__ C)",
     [("M", False, np.int32), ("A", True, np.float32), ("C", True, np.float32)]),
    ("extern \"C\" __global__ void __launch_bounds__(256, 2) k(unsigned int n, float const * const x)",
     [("n", False, np.uint32), ("x", True, np.float32)]),
    ("template <typename T>\n__global__\nvoid k(T *a, /* , */ std::size_t b, double c[], unsigned d) // )",
     [("a", True, None), ("b", False, np.uint64), ("c", True, np.float64), ("d", False, np.uint32)]),
    ("__global__ void k(const volatile float4 *v, long long int n = 3, bool yes = f(1, 2))",
     [("v", True, np.float32), ("n", False, np.int64), ("yes", False, np.bool_)]),
    ("__global__ void k()", []), ("__global__ void k(void)", []), ("__global__ void other(int a)", None),
])
def test_signatures(text, wanted):
    found = signature(text + " { }", "k")
    assert (found and [(d.name, d.pointer, d.dtype) for d in found]) == wanted or found == wanted == []
