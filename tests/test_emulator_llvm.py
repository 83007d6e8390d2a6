"""The LLVM back end against the NumPy back end: the same values, counts by line and findings, whoever executes."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_corpus import CORRECT
from test_emulator_kernels import FIRST_BARRIER, SECOND_BARRIER

import gemm_lab as gl
from gemm_lab.emulator import emulate

pytest.importorskip("llvmlite")
EMULATE = sys.modules["gemm_lab.emulator.emulate"]    # the module; in the package, its name means the function
KERNELS = [gl.Naive(), gl.Naive(coalesced=False, block=(16, 4)), gl.Naive(block=(7, 5)), gl.SharedTiling(32),
           gl.SharedTiling(16, PAD=1), gl.SharedTiling(5), gl.RegisterTiling1D(64, 64, 8, 8),
           gl.RegisterTiling1D(12, 20, 5, 3, strided_loader=True)]


def both(source, entry, grid, block, args, **options):
    """Execute on both back ends, compare everything, and say whether the LLVM back end did it by itself."""
    done = []
    for name in ("numpy", "llvm"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GEMM_LAB_EMULATOR", name)
            fallbacks = []
            patch.setattr(EMULATE, "run_on_numpy", watched(fallbacks, EMULATE.run_on_numpy))
            copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            done.append((copies, emulate(source, entry, grid, block, copies, **options)))
    (numpy_args, numpy_run), (llvm_args, llvm_run) = done
    for a, b in zip(numpy_args, llvm_args):
        if isinstance(a, np.ndarray):
            assert a.tobytes() == b.tobytes(), "values differ"
    for field in ("counts", "by_line", "findings", "output", "completed"):
        assert getattr(numpy_run, field) == getattr(llvm_run, field), field
    return not fallbacks


def watched(calls: list, function):
    return lambda execution: calls.append(execution) or function(execution)


def run(kernel, M, N, K, beta=0.5, source=None, mode="count", **options):
    r = np.random.default_rng(M + N + K)
    A, B, C = (r.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N), (M, N)))
    return both(source or kernel.source, kernel.entry, kernel.grid(M, N), kernel.block, (M, N, K, 1.5, A, B, beta, C),
                mode=mode, **options)


def run_case(case):
    return run(case.kernel, *(case.shapes or [(35, 37, 19)])[0], shared_bytes=case.kernel.shared_bytes)


def snippet(body, *args, parameters="", block=64, grid=2, before="", **options):
    source = (f"{before}\n__global__ void k({parameters}) {{\n    int i = threadIdx.x + blockIdx.x * blockDim.x;\n"
              f"{body}\n}}\n")
    return both(source, "k", grid, block, args, **options)


# ---- matrix products ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 3, 131), (35, 79, 19), (64, 64, 64), (65, 33, 17)], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_course_kernels(kernel, shape):
    assert run(kernel, *shape) and run(kernel, *shape, beta=0.0, mode="values")


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.sampled_from(KERNELS))
def test_random_shapes(M, N, K, kernel):
    assert run(kernel, M, N, K)


@pytest.mark.parametrize("case", CORRECT, ids=lambda case: case.name.split("/")[1])
def test_the_corpus(case):
    run_case(case)


def test_register_tiling_runs_natively():
    plain = [case for case in CORRECT if case.name.startswith("correct/reg2d")]
    assert plain and all(run_case(case) for case in plain)


@pytest.mark.parametrize("barrier", [FIRST_BARRIER, SECOND_BARRIER])
def test_a_race_is_left_to_the_back_end_that_defines_the_order(barrier):
    kernel = gl.SharedTiling(16)
    assert not run(kernel, 32, 48, 40, source=kernel.source.replace(barrier, ""))


def test_special_values_take_the_same_way():
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, 1.0], np.float32)
    values = np.concatenate([values, np.array([0x7F800001, 0xFFC00123], np.uint32).view(np.float32)])
    A, B = (np.resize(values, (22, 22)).T.copy(), np.resize(values, (22, 22)))
    C = np.resize(values, (22, 22))[::-1].copy()
    for kernel in KERNELS[::3]:
        assert both(kernel.source, kernel.entry, kernel.grid(22, 22), kernel.block,
                    (22, 22, 22, 1.0, A, B, 0.5, C), mode="count")


@pytest.mark.parametrize("body", ["X[i % 32] = i;", "X[threadIdx.x] = i;", "X[0] = i; X[1] = i;"])
def test_two_writers_of_one_word_are_left_to_the_back_end_that_defines_the_order(body):
    assert not snippet(body, np.zeros(128, np.float32), parameters="float *X")


# ---- instructions ---------------------------------------------------------------------------------------------------

EDGES = np.array([0, 1, -1, 2, 7, 31, 32, 33, 255, 2**31 - 1, -2**31, -2**31 + 1, 12345678, -98765], np.int64)


@pytest.mark.parametrize("code", [
    "a + b", "a - b", "a * b", "b ? a / b : 7", "b ? a % b : 7", "a & b", "a | b", "a ^ b", "~a", "-a", "abs(a)",
    "min(a, b)", "max(a, b)", "a << (b & 31)", "a >> (b & 31)", "(unsigned)a >> (b & 31)", "__popc(a)", "__clz(a)",
    "__brev(a)", "__mulhi(a, b)", "__umulhi(a, b)", "(unsigned)a / 7u", "(unsigned)a % 10u", "a / 10", "a % 16",
    "min((unsigned)a, (unsigned)b)", "a < b ? 3 : c", "((unsigned)a < (unsigned)b) + 2 * (a == b)",
    "__funnelshift_l(a, b, c)", "__funnelshift_r(a, b, c)", "(short)(a + b) * (short)b", "(signed char)(a + c)",
    "(unsigned char)(a + c)",
    "(int)((long long)a * b >> 20)", "(int)((long long)a / (b | 1))", "(int)((unsigned long long)a % (c | 5u))",
    "(int)(float)a", "(int)((float)a / 3.0f)", "(int)(unsigned)fabsf((float)b)", "__float_as_int((float)c)",
    "(a > 0 && b < 3) != (c == 7 || a == b)", "__float2int_rn(a * 0.5f)", "__float2int_ru(b * 0.3f)"])
def test_integer_instructions(code):
    a, b, c = (np.resize(np.random.default_rng(k).permutation(EDGES), 128).astype(np.int32) for k in range(3))
    assert snippet(f"int a = A[i], b = B[i], c = C[i]; R[i] = {code};", a, b, c, np.zeros(128, np.int32),
                   parameters="const int *A, const int *B, const int *C, int *R")


@pytest.mark.parametrize("type_, dtype", [("float", np.float32), ("double", np.float64)])
@pytest.mark.parametrize("code", [
    "a + b", "a - b", "a * b", "a / b", "a * b + c", "-a", "fabs(a)", "fmin(a, b)", "fmax(a, b)", "sqrt(fabs(a))",
    "a < b ? a : c", "(a != b) + 2 * (a >= c)", "a == a", "floor(a)", "rint(b)", "(T)(float)a", "(T)(double)b",
    "copysign(a, b)", "isnan(a) ? 1 : 2", "-(a + b)", "fabs(a * b)"])
def test_float_instructions(code, type_, dtype):
    edges = np.array([0, -0.0, 1, -1.5, np.inf, -np.inf, np.nan, 1e-40, -1e30, 3.25, 2.5, 0.1], dtype)
    a, b, c = (np.resize(np.random.default_rng(k).permutation(edges), 128) for k in range(3))
    snippet(f"T a = A[i], b = B[i], c = C[i]; R[i] = {code};", a, b, c, np.zeros(128, dtype),
            parameters="const T *A, const T *B, const T *C, T *R", before=f"typedef {type_} T;")


@pytest.mark.parametrize("body", [
    "R[i] = threadIdx.x + 100 * blockIdx.x + 10000 * blockDim.x + 1000000 * gridDim.x;",
    "for (int k = 0; k < i % 7; ++k) { if (k == 3) continue; R[i] += k * i; }",
    "int s = 0; while (s < i) { s += 3; if (s > 50) break; } R[i] = s;",
    "if (i & 1) { R[i] = i; if (i & 2) return; R[i] += 5; } else R[i] = -i; R[i] *= 3;",
    "switch (i % 5) { case 0: R[i] = 4; break; case 1: R[i] = 9; case 3: R[i] += 2; break; default: R[i] = i; }",
    "R[(i * 37) % 128] = i;", "reinterpret_cast<int2 *>(R)[i / 2] = make_int2(i / 2, i / 2 + 1);"])
def test_control_flow_and_addresses(body):
    assert snippet(body, np.zeros(128, np.int32), parameters="int *R")


@pytest.mark.parametrize("block", [1, 31, 32, 33, 96, 1000])
def test_incomplete_warps_and_shared_memory(block):
    assert snippet("""__shared__ float s[1024]; int t = threadIdx.x;
        s[t] = X[i]; __syncthreads(); float v = s[blockDim.x - 1 - t]; __syncthreads();
        if (t % 3) s[t] = v; __syncthreads(); X[i] = s[t] + 1;""",
        np.arange(2 * block, dtype=np.float32), parameters="float *X", block=block)


# ---- what is left to the NumPy back end -----------------------------------------------------------------------------

@pytest.mark.parametrize("body, kind", [
    ("X[i + 1] = i;", "out-of-bounds"), ("X[i] = X[i - 1];", "out-of-bounds"),
    ("X[i * 1000000000ll] = 1;", "out-of-bounds"), ("*(float *)(8ull * i) = 1;", "out-of-bounds"),
    ("__shared__ float s[8]; s[i] = X[i]; X[i] = s[i & 7];", "out-of-bounds"),
    ("((float2 *)(X + 1))[i / 4] = make_float2(1, 2);", "misaligned"), ("while (X[i] >= 0) X[i] = i;", "endless-loop"),
    ("if (i % 2) { __syncthreads(); X[i] = 1; } else { __syncthreads(); X[i] = 2; }", None),
    ("if (threadIdx.x < 16) { X[i] = 1; __syncthreads(); X[i] = 4; } else { __syncthreads(); X[i] = 2; }", None),
    ("asm volatile(\"trap;\");", "assertion")])
def test_defects_are_reported_in_the_same_words(body, kind):
    X = np.arange(128, dtype=np.float32)
    native = snippet(body, X, parameters="float *X")
    assert kind is None or not native


def test_a_read_only_array_is_refused_and_left_alone(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "llvm")
    X = np.arange(32, dtype=np.float32)
    X.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        emulate("__global__ void k(float *X) { X[threadIdx.x] = 0; }", "k", 1, 32, (X,))
    assert np.array_equal(X, np.arange(32))


@pytest.mark.parametrize("options", [{"schedule": "warps"}, {"step_limit": 100}], ids=str)
def test_options_that_the_numpy_back_end_handles(options):
    assert not run(gl.SharedTiling(8), 9, 10, 11, **options)


@pytest.mark.parametrize("options", [{"mode": "check"}, {"step_limit": 10**6}], ids=str)
def test_options_that_machine_code_handles(options):
    assert run(gl.SharedTiling(8), 9, 10, 11, **options)


@pytest.mark.parametrize("body", ["atomicAdd(X, 1.0f);", "printf(\"%d\\n\", i);", "X[i] = __sinf(X[i]);"])
def test_what_the_table_does_not_hold(body):
    assert not snippet(body, np.ones(128, np.float32), parameters="float *X")


@pytest.mark.parametrize("body", [
    "X[i] = __shfl_xor_sync(~0u, X[i], 1);", "X[i] = __syncthreads_count(i & 1);",
    "float a[9]; for (int k = 0; k < 9; ++k) a[k] = k * X[i]; X[i] = a[i % 9];"])
def test_warps_and_local_memory(body):
    assert snippet(body, np.ones(128, np.float32), parameters="float *X")


def test_constants_and_device_variables():
    assert snippet("X[i] = table[i % 4] + n[0]; ", np.ones(128, np.float32), parameters="float *X",
                   before="__constant__ float table[4] = {1, 2, 3, 4}; __device__ float n[2] = {0.5f, 7};")
