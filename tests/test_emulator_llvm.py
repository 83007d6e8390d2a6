"""The LLVM back end against the NumPy back end: the same values, counts by line and findings, whoever executes."""

from __future__ import annotations

import _thread
import ctypes
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_corpus import BROKEN, CORRECT
from test_emulator_kernels import FIRST_BARRIER, SECOND_BARRIER

import gemm_lab as gl
from gemm_lab.emulator import emulate
from gemm_lab.emulator.emulate import back_end

pytest.importorskip("llvmlite")
KERNELS = [gl.Naive(), gl.Naive(coalesced=False, block=(16, 4)), gl.Naive(block=(7, 5)), gl.SharedTiling(32),
           gl.SharedTiling(16, PAD=1), gl.SharedTiling(5), gl.RegisterTiling1D(64, 64, 8, 8),
           gl.RegisterTiling1D(12, 20, 5, 3, strided_loader=True)]
COMPARED = "counts", "by_line", "findings", "output", "completed", "instructions", "ptx_lines", "notes"


def both(source, entry, grid, block, args, **options):
    """Execute on both back ends, compare everything, and say whether the LLVM back end did it by itself."""
    done = []
    for name in ("numpy", "llvm"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GEMM_LAB_EMULATOR", name)
            copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            # What is not optimised is always looked at by the NumPy back end.
            done.append((copies, emulate(source, entry, grid, block, copies, unoptimized=False, **options)))
    (numpy_args, numpy_run), (llvm_args, llvm_run) = done
    for a, b in zip(numpy_args, llvm_args):
        if isinstance(a, np.ndarray):
            assert a.tobytes() == b.tobytes(), f"values differ from {np.flatnonzero(different(a, b))[:1]} on"
    for field in COMPARED:
        assert getattr(numpy_run, field) == getattr(llvm_run, field), field
    return llvm_run.emulator == "llvm"


def different(a, b):
    return a.reshape(-1).view(f"u{a.itemsize}") != b.reshape(-1).view(f"u{b.itemsize}")


def run(kernel, M, N, K, beta=0.5, source=None, mode="count", **options):
    r = np.random.default_rng(M + N + K)
    A, B, C = (r.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N), (M, N)))
    return both(source or kernel.source, kernel.entry, kernel.grid(M, N), kernel.block, (M, N, K, 1.5, A, B, beta, C),
                mode=mode, shared_bytes=kernel.shared_bytes, **options)


def snippet(body, *args, parameters="float *X", block=64, grid=2, before="", **options):
    """Run statements; `i` is the thread's number in the launch."""
    source = (f"{before}\n__global__ void k({parameters}) {{\n    int i = threadIdx.x + blockIdx.x * blockDim.x;\n"
              f"{body}\n}}\n")
    return both(source, "k", grid, block, args, **options)


def floats(n=128):
    return np.arange(n, dtype=np.float32)


# ---- matrix products ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_course_kernels(kernel):
    for shape, mode, beta in (((1, 1, 1), "check", 0.0), ((35, 79, 19), "check", 0.5), ((65, 33, 17), "count", 0.5),
                              ((3, 3, 131), "values", 0.0)):
        assert run(kernel, *shape, beta=beta, mode=mode)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.sampled_from(KERNELS),
       st.sampled_from(["count", "check"]))
def test_random_shapes(M, N, K, kernel, mode):
    assert run(kernel, M, N, K, mode=mode)


@pytest.mark.parametrize("case", [*CORRECT[::5], *(c for c in BROKEN[::12] if "endless-loop" not in c.kinds)],
                         ids=lambda case: case.name)
def test_a_sample_of_the_corpus(case):
    if not case.kinds & {"compile-error", "unsupported"}:    # else it cannot be launched
        run(case.kernel, *(case.shapes or [(35, 37, 19)])[0], mode="check")


def test_register_tiling_and_asynchronous_copies_run_natively():
    cases = [case for case in CORRECT if case.name.split("/")[1].startswith(("reg2d_g", "tiled_cp_", "tiled_pipe"))]
    assert len(cases) >= 4 and all(run(case.kernel, *(case.shapes or [(35, 37, 19)])[0]) for case in cases)


def test_special_values_take_the_same_way():
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, 1.0], np.float32)
    values = np.concatenate([values, np.array([0x7F800001, 0xFFC00123], np.uint32).view(np.float32)])
    A, B = (np.resize(values, (22, 22)).T.copy(), np.resize(values, (22, 22)))
    C = np.resize(values, (22, 22))[::-1].copy()
    for kernel in KERNELS[::3]:
        assert both(kernel.source, kernel.entry, kernel.grid(22, 22), kernel.block,
                    (22, 22, 22, 1.0, A, B, 0.5, C), mode="count")


# ---- instructions ---------------------------------------------------------------------------------------------------

EDGES = np.array([0, 1, -1, 2, 7, 31, 32, 33, 255, 2**31 - 1, -2**31, -2**31 + 1, 12345678, -98765], np.int64)
INTEGERS = [
    "a + b", "a - b", "a * b", "b ? a / b : 7", "b ? a % b : 7", "a & b", "a | b", "a ^ b", "~a", "-a", "abs(a)",
    "min(a, b)", "max(a, b)", "a << (b & 31)", "a >> (b & 31)", "(unsigned)a >> (b & 31)", "__popc(a)", "__clz(a)",
    "__brev(a)", "__mulhi(a, b)", "__umulhi(a, b)", "(unsigned)a / 7u", "(unsigned)a % 10u", "a / 10", "a % 16",
    "min((unsigned)a, (unsigned)b)", "a < b ? 3 : c", "((unsigned)a < (unsigned)b) + 2 * (a == b)",
    "__funnelshift_l(a, b, c)", "__funnelshift_r(a, b, c)", "__funnelshift_lc(a, b, c)", "__funnelshift_rc(a, b, c)",
    "(short)(a + b) * (short)b", "(signed char)(a + c)", "(unsigned char)(a + c)", "__byte_perm(a, b, c)",
    "(int)((long long)a * b >> 20)", "(int)((long long)a / (b | 1))", "(int)((unsigned long long)a % (c | 5u))",
    "__sad(a, b, c)", "__mul24(a, b)", "__ffs(a)", "(int)__popcll((long long)a * b)", "(int)__clzll((long long)a)",
    "(int)(float)a", "(int)((float)a / 3.0f)", "(int)(unsigned)fabsf((float)b)", "__float_as_int((float)c)",
    "(a > 0 && b < 3) != (c == 7 || a == b)", "__float2int_rn(a * 0.5f)", "__float2int_ru(b * 0.3f)",
    "(int)(unsigned char)(float)a", "(int)(long long)((float)a * 1e15f)", "(int)((unsigned long long)(float)b >> 3)"]
PTX = [    # %0 = f(%1, %2, %3)
    "bfe.s32 %0, %1, %2, %3", "bfe.u32 %0, %1, %2, %3", "bfi.b32 %0, %1, %2, %3, 5", "bfind.s32 %0, %1",
    "bfind.shiftamt.u32 %0, %1", "shl.b32 %0, %1, %2", "shr.s32 %0, %1, %2", "shr.u32 %0, %1, %2",
    "shr.b32 %0, %1, %2", "cnot.b32 %0, %1", "sad.u32 %0, %1, %2, %3", "mad24.lo.s32 %0, %1, %2, %3",
    "add.sat.s32 %0, %1, %2", "sub.sat.s32 %0, %1, %2", "slct.s32.s32 %0, %1, %2, %3", "set.lt.s32.s32 %0, %1, %2",
    "mad.hi.u32 %0, %1, %2, %3", "cvt.sat.s8.s32 %0, %1", "cvt.sat.u8.s32 %0, %1", "prmt.b32 %0, %1, %2, %3",
    "{ .reg .pred p, q; setp.lt.s32 p|q, %1, %2; selp.s32 %0, %3, 5, q; @p mov.s32 %0, 9; @!q mov.s32 %0, %1; }",
    "{ .reg .b64 t; mov.b64 t, {%1, %2}; shr.u64 t, t, 9; cvt.u32.u64 %0, t; }",
    "{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; add.s16 lo, lo, hi; mov.b32 %0, {hi, lo}; }"]
FLOATS = ["a + b", "a - b", "a * b", "a / b", "a * b + c", "-a", "fabs(a)", "fmin(a, b)", "fmax(a, b)", "sqrt(fabs(a))",
          "a < b ? a : c", "(a != b) + 2 * (a >= c)", "a == a", "floor(a)", "rint(b)", "(T)(float)a", "(T)(double)b",
          "copysign(a, b)", "isnan(a) ? 1 : 2", "-(a + b)", "fabs(a * b)", "(T)(int)b", "(T)(long long)(b * 1000)"]


def shuffled(edges, dtype):
    return [np.resize(np.random.default_rng(k).permutation(edges), 128).astype(dtype) for k in range(3)]


def test_integer_instructions():
    body = "int a = A[i], b = B[i], c = C[i];\n" + "\n".join(
        f"R[{128 * n} + i] = {code};" for n, code in enumerate(INTEGERS))
    assert snippet(body, *shuffled(EDGES, np.int32), np.zeros(128 * len(INTEGERS), np.int32),
                   parameters="const int *A, const int *B, const int *C, int *R")


def test_ptx_instructions():
    codes = [code if code[-1] == "}" else f"{code};" for code in PTX]
    body = "int a = A[i], b = B[i], c = C[i], r = 0;\n" + "\n".join(
        f'asm volatile("{code}" : "+r"(r) : "r"(a), "r"(b), "r"(c)); R[{128 * n} + i] = r;'
        for n, code in enumerate(codes))
    assert snippet(body, *shuffled(EDGES, np.int32), np.zeros(128 * len(PTX), np.int32),
                   parameters="const int *A, const int *B, const int *C, int *R")


@pytest.mark.parametrize("type_, dtype", [("float", np.float32), ("double", np.float64)])
def test_float_instructions(type_, dtype):
    edges = np.array([0, -0.0, 1, -1.5, np.inf, -np.inf, np.nan, 1e-40, -1e30, 3.25, 2.5, 0.1], dtype)
    body = "T a = A[i], b = B[i], c = C[i];\n" + "\n".join(
        f"R[{128 * n} + i] = {code};" for n, code in enumerate(FLOATS))
    native = snippet(body, *shuffled(edges, dtype), np.zeros(128 * len(FLOATS), dtype), before=f"typedef {type_} T;",
                     parameters="const T *A, const T *B, const T *C, T *R")
    assert native or type_ == "double"


@pytest.mark.parametrize("body", [
    "R[i] = threadIdx.x + 100 * blockIdx.x + 10000 * blockDim.x + 1000000 * gridDim.x;",
    "for (int k = 0; k < i % 7; ++k) { if (k == 3) continue; R[i] += k * i; }",
    "int s = 0; while (s < i) { s += 3; if (s > 50) break; } R[i] = s;",
    "if (i & 1) { R[i] = i; if (i & 2) return; R[i] += 5; } else R[i] = -i; R[i] *= 3;",
    "switch (i % 5) { case 0: R[i] = 4; break; case 1: R[i] = 9; case 3: R[i] += 2; break; default: R[i] = i; }",
    "R[(i * 37) % 128] = i; assert(i < 500);",
    "reinterpret_cast<int2 *>(R)[i / 2] = make_int2(i / 2, i / 2 + 1);"])
def test_control_flow_and_addresses(body):
    assert snippet(body, np.zeros(128, np.int32), parameters="int *R", before="#include <cassert>")


# ---- memory, warps, barriers ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("block", [1, 31, 33, (7, 5, 3), 1000])
def test_incomplete_warps_and_shared_memory(block):
    threads = int(np.prod(block))
    source = """__global__ void k(float *X) { __shared__ float s[1024];
        int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        int n = blockDim.x * blockDim.y * blockDim.z;
        float *x = X + blockIdx.x * n;
        s[t] = x[t]; __syncthreads(); float v = s[n - 1 - t]; __syncthreads();
        if (t % 3) s[t] = v; __syncthreads(); x[t] = s[t] + 1; }"""
    for mode in ("count", "check"):
        assert both(source, "k", 2, block, (floats(2 * threads),), mode=mode)


@pytest.mark.parametrize("reader", ["a", "b"])
def test_a_store_that_reaches_one_array_and_then_another(reader):
    """A warp reads what another one has just written, without a barrier: noticed in whichever array that is."""
    body = (f"__shared__ float a[32], b[32]; int t = threadIdx.x % 32; float *to = threadIdx.x < 32 ? a : b; to[t] = i;"
            f"if (threadIdx.x / 32 == {'ab'.index(reader) ^ 1}) X[i] = {reader}[t];")
    assert not snippet(body, floats(), mode="check")
    assert snippet(body.replace("if", "__syncthreads(); if"), floats(), mode="check")


@pytest.mark.parametrize("body", [
    "float a[9]; for (int k = 0; k < 9; ++k) a[k] = k * X[i]; X[i] = a[i % 9];",
    "double a[3] = {1, 2, 3}; a[i % 3] += i; X[i] = a[0] + 10 * a[1] + 100 * a[2];",
    "unsigned char *b = (unsigned char *)X; b[4 * i + i % 4] += 7; ((short *)X)[2 * i] -= 3;",
    "__shared__ float s[64]; s[threadIdx.x] = i; float *p = i % 7 < 9 ? s + threadIdx.x : X; *p += 2; X[i] = *p;",
    "float4 v = ((float4 *)X)[i % 32]; if (i < 32) ((float4 *)X)[i] = make_float4(v.w, v.z, v.x, v.y);",
    "extern __shared__ int d[]; d[threadIdx.x] = i; X[i] = d[threadIdx.x] + table[i % 4] + n[0];",
    "X[i] += __shfl_xor_sync(~0u, X[i], 5) + 2 * __shfl_up_sync(~0u, X[i], 3, 8) + 3 * __shfl_down_sync(~0u, X[i], 9);",
    "X[i] = __shfl_sync(~0u, X[i], i % 5, 16) + __shfl_sync(~0u, X[i], i * 7);",
    "X[i] = __ballot_sync(~0u, i % 3 == 0) % 1000 + __any_sync(~0u, i == 5) + 2 * __all_sync(~0u, i >= 0);",
    "if (i % 3) X[i] = __activemask() % 1000; __syncwarp(); X[i] += 1;",
    "X[i] = __syncthreads_count(i & 1) + 100 * __syncthreads_or(i == 3) + 1000 * __syncthreads_and(i != 70);",
    # More patterns of addresses than a table has room for.
    "__shared__ float s[64]; s[threadIdx.x] = i; __syncthreads(); float sum = 0; \n#pragma unroll 1\n"
    "for (int k = 1; k < 40; ++k) sum += s[threadIdx.x * k % 64]; X[i] = sum;",
    # Registers that change before the first barrier only, and others that change late.
    "__shared__ float s[64]; float a = X[i] + 1, b = 2 * i; int t = threadIdx.x; \n#pragma unroll 1\n"
    "for (int k = 0; k < 4; ++k) { s[t] = b; __syncthreads(); if (k == 2) a += s[63 - t]; __syncthreads(); b += k; }"
    " X[i] = a + b;"])
def test_memory_and_warps(body):
    for mode in ("count", "check"):
        assert snippet(body, floats(), mode=mode, shared_bytes=256,
                       before="__constant__ float table[4] = {1, 2, 3, 4}; __device__ float n[2] = {0.5f, 7};")


def test_shuffles_of_lanes_that_are_not_there():
    assert snippet("if (i % 3) X[i] = __shfl_down_sync(__activemask(), X[i], 1);", floats())


# ---- programs nobody has written ------------------------------------------------------------------------------------

NUMBERS = st.recursive(st.sampled_from(["a", "b", "i", "7", "-3", "(int)x"]), lambda inner: st.builds(
    "({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "&", "|", "^", "<", "=="]), inner), max_leaves=6)
SIMPLE = st.one_of(
    st.builds("a = {};".format, NUMBERS), st.builds("b ^= {} >> 1;".format, NUMBERS),
    st.builds("x = x * {}f + a;".format, st.sampled_from(["0.5", "1.25", "-3.0"])),
    st.builds("s[threadIdx.x] += {};".format, NUMBERS))
STATEMENTS = st.recursive(SIMPLE, lambda inner: st.one_of(
    st.builds("{} {}".format, inner, inner),
    st.builds("if ({}) {{ {} }} else {{ {} }}".format, NUMBERS, inner, inner),
    st.builds("for (int t = 0; t < ({} & 7); ++t) {{ {} if (t > a) break; }}".format, NUMBERS, inner)), max_leaves=8)
EXCHANGE = "__syncthreads(); b += s[(threadIdx.x * 5 + 3) % blockDim.x]; __syncthreads();"


@settings(max_examples=15, deadline=None)
@given(st.lists(STATEMENTS, min_size=1, max_size=3), st.sampled_from([32, 50, 96]), st.sampled_from(["count", "check"]))
def test_random_programs(parts, block, mode):
    body = ("__shared__ int s[96]; int a = A[i], b = i * 3; float x = a; s[threadIdx.x] = b;\n"
            + f"\n{EXCHANGE}\n".join(parts) + "\nA[i] = a + b; X[i] = x + s[threadIdx.x];")
    snippet(body, floats(2 * block), np.arange(2 * block, dtype=np.int32)[::-1].copy(), block=block,
            parameters="float *X, int *A", mode=mode)


@pytest.mark.parametrize("condition", ["i < 0", "X[i] > 200", "X[i] > 100", "i % 3 == 0"])
@pytest.mark.parametrize("rounds", ["1", "n", "(n > 3)"])
def test_lines_that_did_nothing_are_not_mentioned(condition, rounds):
    body = f"float x = X[i];\nfor (int k = 0; k < {rounds}; ++k) if ({condition})\nx = x * 0.5f + k;\nX[i] = x;"
    assert snippet(body, floats(), np.int32(0), parameters="float *X, int n")


# ---- what is left to the NumPy back end -----------------------------------------------------------------------------

@pytest.mark.parametrize("body, kind", [
    ("X[i + 1] = i;", "out-of-bounds"), ("X[i] = X[i - 1];", "out-of-bounds"),
    ("X[i * 1000000000ll] = 1;", "out-of-bounds"), ("*(float *)(8ull * i) = 1;", "out-of-bounds"),
    ("__shared__ float s[8]; s[i] = X[i]; X[i] = s[i & 7];", "out-of-bounds"),
    ("((float2 *)(X + 1))[i / 4] = make_float2(1, 2);", "misaligned"), ("while (X[i] >= 0) X[i] = i;", "endless-loop"),
    ("for (int k = 0; k != 1 + 2 * i; k += 2) X[i] += k % 3;", "endless-loop"),
    ("if (i % 2) { __syncthreads(); X[i] = 1; } else { __syncthreads(); X[i] = 2; }", None),
    ("if (threadIdx.x < 16) { X[i] = 1; __syncthreads(); X[i] = 4; } else { __syncthreads(); X[i] = 2; }", None),
    ("asm volatile(\"trap;\");", "assertion")])
def test_defects_are_reported_in_the_same_words(body, kind):
    for mode in ("count", "check"):
        if kind != "endless-loop" or mode == "count":
            native = snippet(body, floats(), mode=mode, step_limit=50_000 if "k += 2" in body else None)
            assert kind is None or not native


@pytest.mark.parametrize("body", [
    "__shared__ float s[64]; X[i] = s[threadIdx.x];", "__shared__ float s[64]; s[threadIdx.x] += 1; X[i] = s[0];",
    "__shared__ float s[64]; s[threadIdx.x] = i; X[i] = s[threadIdx.x ^ 1];",
    "__shared__ float s[64]; s[threadIdx.x / 2] = i; __syncthreads(); X[i] = s[i / 4];",
    "X[i / 2] = i;", "X[i ^ 1] += X[i];",
    "__shared__ float s[64]; s[threadIdx.x] = i; __syncthreads(); X[i] = s[threadIdx.x ^ 1]; s[threadIdx.x] = 3;",
    "float a[9]; a[i % 9] = 1; X[i] = a[i % 7];", "if (i < 40) X[i] = __shfl_xor_sync(~0u, X[i], 8);",
    "float v; if (i > 5) v = X[i]; X[i] = v;", "if (threadIdx.x > 40) return; __syncthreads(); X[i] = 1;"])
def test_check_mode_notices_what_threads_do_to_each_other(body):
    assert not snippet(body, floats(), mode="check")


@pytest.mark.parametrize("barrier", [FIRST_BARRIER, SECOND_BARRIER])
def test_a_race_is_left_to_the_back_end_that_defines_the_order(barrier):
    kernel = gl.SharedTiling(16)
    assert not run(kernel, 32, 48, 40, source=kernel.source.replace(barrier, ""))


@pytest.mark.parametrize("body", ["X[i % 32] = i;", "X[threadIdx.x] = i;", "X[0] = i; X[1] = i;",
                                  "X[i] = 1; X[(i + 64) % 128] += 3;", "X[i] = X[(i + 64) % 128];"])
def test_what_depends_on_the_order_of_warps_is_left_to_the_back_end_that_defines_it(body):
    assert not snippet(body, floats())


def test_a_read_only_array_is_refused_and_left_alone(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "llvm")
    X = np.arange(32, dtype=np.float32)
    X.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        emulate("__global__ void k(float *X) { X[threadIdx.x] = 0; }", "k", 1, 32, (X,))
    assert np.array_equal(X, np.arange(32))


ALL = 2**32 - 1
STEP = np.arange(32)


@pytest.fixture(scope="module")
def describe():
    """patterns.describe, compiled."""
    from gemm_lab.emulator.llvm import engine, patterns
    own = engine.Engine()
    own.add([patterns.describe()])
    yield ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(own.engine.get_function_address("describe"))


@pytest.mark.parametrize("relative, lanes, kind", [
    (0 * STEP, ALL, "BROADCAST"), (0 * STEP, 5, "BROADCAST"), (4 * STEP, ALL, "ROW"), (-4 * STEP, ALL, "SCATTERED"),
    (np.where(STEP == 3, 0, 4 * STEP), ALL - 8, "SCATTERED"), (STEP // 8 * 100, ALL, "BROADCASTS"),
    (STEP // 8 * -96 + STEP % 8 * 4, ALL, "ROWS"), (STEP // 4 * 4, ALL, "SCATTERED"), (8 * STEP, ALL, "SCATTERED")])
@pytest.mark.parametrize("size, stride", [(4, 0), (16, 0), (4, 48)])
def test_patterns_of_addresses(describe, relative, lanes, kind, size, stride):
    """What the machine code finds out about a pattern. Wide elements and local memory have no rows."""
    from gemm_lab.emulator.llvm import structures
    table, entry = (structures.zeros(s.size) for s in (structures.TABLE, structures.ENTRY))
    seen, = structures.seen(table, structures.TABLE)
    seen["bytes"], seen["element_bytes"], seen["stride"] = size, 4, stride
    found, = structures.seen(entry, structures.ENTRY)
    found["relative"], found["lanes"] = relative, lanes
    describe(structures.address(entry), structures.address(table))
    if stride or size > 4 and "ROW" in kind:
        kind = "SCATTERED"
    assert found["kind"] == getattr(structures, kind)
    assert (found["low"], found["high"]) == (relative.min(), relative.max() + size)
    assert found["bits"] == np.bitwise_or.reduce(relative)
    first = (lanes & -lanes).bit_length() - 1
    assert np.array_equal(found["moves"], relative + stride * np.where(lanes >> STEP & 1, STEP, first))


@pytest.mark.parametrize("body", ["atomicAdd(X, 1.0f);", "printf(\"%d\\n\", i);", "X[i] = __sinf(X[i]);",
                                  "asm volatile(\"bar.sync 1, 64;\");"])
def test_what_the_tables_do_not_hold(body):
    assert not snippet(body, floats())


def test_the_order_of_warps_is_the_numpy_back_ends_business():
    assert not run(gl.SharedTiling(8), 9, 10, 11, schedule="warps")


@pytest.mark.parametrize("limit", [10, 100, 10**6])
def test_step_limits(limit):
    assert run(gl.SharedTiling(8), 9, 10, 11, step_limit=limit) == (limit == 10**6)


# ---- who executes ---------------------------------------------------------------------------------------------------

def test_without_llvmlite_numpy_is_used_silently(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "")
    assert back_end() == "llvm"
    monkeypatch.setitem(sys.modules, "gemm_lab.emulator.llvm", None)
    assert back_end() == "numpy"
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "llvm")
    with pytest.raises(ValueError, match="llvmlite 0.50 or newer is not installed"):
        back_end()


def interrupt_until(ended: threading.Event) -> None:
    """Press Ctrl-C soon, and again after a while: an interrupt that meets a callback of the interpreter is lost."""
    pause = 0.3
    while not ended.wait(pause):
        _thread.interrupt_main()
        pause = 3.0


def test_a_run_can_be_interrupted(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "llvm")
    source = "__global__ void k(float *X) { for (int k = 0; k < 2000000000; ++k) X[k & 31] += k * 0.5f; }"
    before = {thread for thread in threading.enumerate() if thread.is_alive()}
    X = floats(32)
    for _ in range(3):    # Thread.join says of an interrupted thread that it has ended, though not every time
        ended = threading.Event()
        nagging = threading.Thread(target=interrupt_until, args=(ended,))
        nagging.start()
        with pytest.raises(KeyboardInterrupt):
            emulate(source, "k", 1, 1, (X,))
        ended.set()
        nagging.join()
        assert before == {thread for thread in threading.enumerate() if thread.is_alive()}
        now = X.copy()
        time.sleep(0.05)
        assert np.array_equal(X, now, equal_nan=True), "a worker still writes"
