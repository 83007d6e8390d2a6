"""Values that nobody has set, and the bounds of local arrays: found where they matter, on the line of the use, and
nowhere else. Optimised code shows neither, so check mode looks at the unoptimised code, too."""

from __future__ import annotations

import numpy as np
import pytest

from gemm_lab import compiler
from gemm_lab.emulator import debug_info, emulate, library

F32 = np.float32


def run(body, n=3, block=32, grid=1, before="", C=None, **options):
    """A kernel whose body starts in line 1 of the source; A counts from 1."""
    source = (f"{before}__global__ void k(int n, const float *A, float *C) {{ int i = threadIdx.x, b = blockIdx.x; "
              f"{body}\n}}\n")
    A = np.arange(1, 101, dtype=F32)
    C = np.zeros(64, F32) if C is None else C
    return emulate(source, "k", grid, block, (n, A, C), mode="check", **options)


def the(done):
    """The only finding."""
    assert len(done.findings) == 1, done.findings
    return done.findings[0]


# ---- uninitialized --------------------------------------------------------------------------------------------------

UNSET = {    # name -> body, lines of the finding, part of its message
    "a sum": ("float acc;\nfor (int k = 0; k < n; ++k)\nacc += A[k];\nC[i] = acc;", {1, 3}, "uses acc,"),
    "one way around": ("float x;\nif (i > 5) x = A[i];\nC[i] = 2 * x;", {1, 3}, "thread (0, 0, 0)"),
    "one of an array": ("float acc[4];\nfor (int r = 1; r < 4; ++r) acc[r] = 0;\nfor (int r = 0; r < 4; ++r)\n"
                        "acc[r] += A[r];\nC[i] = acc[n];", None, None),
    "the one that is used": ("float acc[4];\nfor (int r = 1; r < 4; ++r) acc[r] = 0;\nfor (int r = 0; r < 4; ++r)\n"
                             "acc[r] += A[r];\nC[i] = acc[n - 3];", {1, 4}, "uses word 0 of acc,"),
    "a branch": ("int k;\nif (n == 4) k = 0;\nif (k == 2)\nC[i] = 1;", {1, 3}, "decides by it what to do next"),
    "how often a loop runs": ("int k;\nfor (; k < n; ++k)\nC[i] = k;", {1, 2}, "decides by it"),
    "an index": ("int k;\nif (n == 4) k = 0;\nC[i] = A[k];", {1, 3}, "uses it as an address"),
    "a pointer": ("const float *p;\nif (n == 4) p = A;\nC[i] = p[i];", {1, 3}, "uses p"),
    "a member of a struct": ("struct { float x, y; } v, w;\nv.x = 1;\nw = v;\nC[i] = w.x + w.y;", {1, 4},
                             "word 1 of v"),
    "what a function leaves out": ("float x; get(n, &x);\nC[i] = x + 1;", {1, 2}, "uses x"),
    "a function without return": ("C[i] = 1 +\nnothing(n);", {2}, "a value, which has no value yet"),
    "declared anew in each round": ("float sum = 0;\nfor (int k = 0; k < 4; ++k) {\nfloat x;\nif (k == 0) x = A[i];\n"
                                    "sum += x; }\nC[i] = sum;", {3, 5}, "uses x"),
    "an array declared anew": ("float sum = 0;\nfor (int k = 0; k < 4; ++k) {\nfloat x[4];\nif (k == 0) x[n] = A[i];\n"
                               "sum += x[n]; }\nC[i] = sum;", {3, 5}, "word 3 of x"),
    "through shared memory": ("__shared__ float s[32]; float x;\nif (i != 7) x = 1;\ns[i] = x; __syncthreads();\n"
                              "C[i] = s[31 - i] * 2;", {1, 4}, "uses x"),
    "through a shuffle": ("float x;\nif (i < 31) x = 1;\nx += __shfl_down_sync(~0u, x, 1);\nC[i] = i == 30 ? x : 0;",
                          {1, 3}, "uses x"),
    "times zero": ("float old;\nif (n != 3) old = C[i];\nC[i] = A[i] + 0.0f * old;", {1, 3}, "uses old"),
    "an atomic": ("float x;\nif (i > 3) x = 1;\natomicAdd(C, x);", {1, 3}, "uses x"),
    "a variable of the module": ("float x;\nif (i > 3) x = 1;\nspace[i] = x; __syncthreads();\nC[i] = space[i] + 1;",
                                 {1, 4}, "uses x"),
    "shared memory": ("__shared__ float s[32];\nif (i != 7) s[i] = 1; __syncthreads();\nC[i] = s[31 - i];", {3},
                      "reads word 7 of s, which nobody has written yet"),
    "shared memory, for a branch": ("__shared__ bool last;\nif (n == 4) last = true; __syncthreads();\nif (last)\n"
                                    "C[i] = 1;", {3}, "of last, which nobody has written yet"),
}
UNSET = {name: case for name, case in UNSET.items() if case[1]}
BEFORE = ("__device__ float space[64]; __device__ void get(int n, float *x) { if (n == 4) *x = 1; } "
          "__device__ float nothing(int n) { float s = n; } ")


@pytest.mark.parametrize("name", list(UNSET))
def test_a_value_that_nobody_has_set_is_found_where_it_is_used(name):
    body, lines, words = UNSET[name]
    found = the(run(body, before=BEFORE))
    assert found.kind == "uninitialized" and set(found.lines) == lines and words in found.message, found


LEGAL = {
    "assigned later": "float x; if (i > 5) x = 1; else x = 2; C[i] = x;",
    "copied only": "float x, y; if (i > 5) x = 1; y = x; float z[2] = {y, 1}; if (i > 5) C[i] = z[n - 3];",
    "computed with, and dropped": "float x; if (i > 5) x = 1; float y = 2 * x + A[i]; if (i > 5) C[i] = y;",
    "used under the same condition": "float x; if (n > 5) x = C[i]; float y = A[i]; if (n > 5) y += x; C[i] = y;",
    "half a struct": "struct { float x, y; } v, w; v.x = 1; w = v; C[i] = w.x;",
    "half a vector, through shared memory": "__shared__ float4 s[32]; float4 v; v.x = A[i]; s[i] = v; __syncthreads();"
                                            " C[i] = s[31 - i].x;",
    "bit fields": "struct { unsigned a : 5, b : 5; bool c : 1; } v; v.a = i; v.b = n; v.c = i > 3;"
                  " C[i] = v.c ? v.a + v.b : 0;",
    "garbage of other lanes": "float x; if (i < 16) x = 1; x += __shfl_xor_sync(~0u, x, 8); if (i < 16) C[i] = x;",
    "an unwritten word that is not used": "__shared__ float s[33]; s[i] = 1; __syncthreads(); float x = s[i + 1] * 2;"
                                          " if (i < 31) C[i] = x;",
    "what the other way round sets": "float x; int k = 0; again: if (k == 1) C[i] = x; x = A[i];"
                                     " if (k++ < 1) goto again;",
    "a switch": "float x; switch (n) { case 1: x = 1; break; case 2: x = 2; break; default: x = 3; } C[i] = x;",
    "and with false": "bool p; int q = n == 3 ? 0 : 1; if (n == 4) p = true; C[i] = (q & (int)p) ? 1.0f : 2.0f;",
    "a chosen value": "float x; if (n == 4) x = 1; C[i] = n == 4 ? x : A[i];",
    "a minimum of library calls": "float x; x = fminf(A[i], 2.0f); C[i] = fmaf(x, fabsf(x), sqrtf(x));",
    "written by a copy": "__shared__ float s[32]; asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4; "
                         "cp.async.wait_all;\" :: \"r\"((unsigned)__cvta_generic_to_shared(s + i)), \"l\"(A + i));"
                         " __syncthreads(); C[i] = s[31 - i];",
    "macro loops": "\n#define FOR(v, m) for (int v = 0; v < (m); ++v)\nfloat x[4];"
                   " FOR(k, 4) FOR(j, 4) x[j] = k + j;"
                   " FOR(r, 2) FOR(q, 2) C[i] += x[2 * r + q];",
}


@pytest.mark.parametrize("name", list(LEGAL))
def test_legal_code_without_first_values_is_not_accused(name):
    done = run(LEGAL[name])
    assert done.completed and done.findings == ()


def test_each_variable_is_reported_once():
    done = run("float a[8], c[8], x; for (int r = 0; r < 8; ++r) a[r] += A[r];\nfor (int r = 0; r < 8; ++r)\n"
               "c[r] += 2;\nfor (int r = 0; r < 8; ++r) { C[i] += a[r]; C[i + 32] = c[r]; }\n"
               "for (int r = 0; r < 8; ++r) x += r;\n"
               "C[i] += x;")
    assert sorted(word for f in done.findings for word in ("of a,", "of c,", "uses x,") if word in f.message) == \
        ["of a,", "of c,", "uses x,"] and len(done.findings) == 3


# ---- bounds of local arrays -----------------------------------------------------------------------------------------

OUTSIDE = {    # name -> body, line, part of the message
    "one more": ("float a[4], c[4];\nfor (int r = 0; r <= 4; ++r)\na[r] = r;\nC[i] = a[n];", 3,
                 "writes word 4 of a, 1 past"),
    "one less": ("float a[4] = {}, c[4] = {};\nfor (int r = n; r >= -1; --r)\nC[i] += c[r];", 3,
                 "reads word -1 of c, 1 before its first"),
    "by a pointer": ("float a[4] = {}, c[4] = {};\nfloat *p = a + 2;\nfor (int r = 0; r < n; ++r) *p++ = 1;\n"
                     "C[i] = a[n] + c[0];", 3, "writes word 4 of a, 1 past its last: a has 4 words"),
    "in a function": ("float a[4] = {}, c[4] = {};\nclear(a, n + 3);\nC[i] = a[n] + c[0];", 1, "writes word 4 of a"),
    "captured by a lambda": ("float a[4] = {}, c[4] = {};\nauto f = [&](int r) { a[r] = c[r]; };\n"
                             "for (int r = 0; r < n + 3; ++r) f(r);\nC[i] = a[n];", 2,
                             "writes word 4 of a, 1 past its last"),
    "as a vector": ("__align__(16) float a[6] = {}, c[4] = {};\nfloat4 v = ((float4 *)a)[n - 2];\nC[i] = v.x + c[0];",
                    2, "reads words 4 to 7 of a, 2 past its last"),
    "of two arrays": ("float a[4] = {}, c[4] = {};\nfloat *p = i < 3 ? a : c;\nC[i] = p[n + 1];", 3, "reads word 4 of"),
}


@pytest.mark.parametrize("name", list(OUTSIDE))
def test_each_local_array_has_bounds_of_its_own(name):
    body, line, words = OUTSIDE[name]
    found = the(run(body, before="__device__ void clear(float *p, int m) { for (int r = 0; r < m; ++r) p[r] = 0; } "))
    assert (found.kind, found.line) == ("out-of-bounds", line) and words in found.message, found


INSIDE = {
    "up to the end": "float a[4], c[4]; float *end = a + 4; for (float *p = a; p != end; ++p) *p = 1;"
                     " for (int r = 4; r--;) c[r] = *--end; C[i] = a[n] + c[n];",
    "swapped": "float a[4] = {}, c[4] = {}; float *p = a, *q = c; for (int r = 0; r < 5; ++r) { p[n] = r; q[n] += p[n];"
               " float *t = p; p = q; q = t; } C[i] = a[n] + c[n];",
    "rows as one": "float a[2][4]; float *flat = a[0]; for (int r = 0; r < 8; ++r) flat[r] = r; C[i] = a[n - 2][n];",
    "counted from 1": "float a[4]; float *p = a - 1; for (int r = 1; r <= 4; ++r) p[r] = r; C[i] = p[n];",
    "of different functions": "float *p; C[i] = own(A, n, p = nullptr, i) + own(A, n, nullptr, i + 1);",
    "pointers in an array": "float a[4] = {}, c[4] = {}; float *p[2] = {a, c}; for (int r = 0; r < 8; ++r)"
                            " p[r / 4][r % 4] = r; C[i] = a[n] + c[n];",
}


@pytest.mark.parametrize("name", list(INSIDE))
def test_pointers_inside_of_local_arrays_are_not_accused(name):
    before = ("__device__ __noinline__ void add(float *to, const float *from, int m) { for (int r = 0; r < m; ++r) "
              "to[r] += from[r]; } __device__ __noinline__ float own(const float *A, int n, float *given, int odd) { "
              "float mine[4] = {}, other[4] = {}; float *p = given ? given : odd & 1 ? mine : other; add(p, A, n + 1); "
              "if (!given) p[n] += own_end(mine, other); return p[n]; } ")
    before = ("__device__ float own_end(const float *a, const float *c) { float sum[2]; for (int r = 0; r < 2; ++r) "
              "sum[r] = a[r] + c[r]; return sum[0] + sum[1]; } ") + before
    assert run(INSIDE[name], before=before).findings == ()


def test_a_vector_of_which_one_word_is_used_must_be_aligned():
    """The optimised code loads that word alone."""
    found = the(run("float4 v = *(const float4 *)(A + n);\nC[i] = v.y;"))
    assert (found.kind, found.line) == ("misaligned", 1)


def test_a_large_launch_is_looked_at_twice_only_on_request():
    body = "float acc[8]; for (int k = 0; k < n; ++k) acc[k & 7] += A[k & 15]; float s = 0;" \
           " for (int r = 0; r < 8; ++r) s += acc[r]; C[i] = s;"
    kinds = [[f.kind for f in run(body, n, unoptimized=wanted).findings]
             for n, wanted in ((3, False), (3, None), (3, True))]
    assert kinds == [[], ["uninitialized"], ["uninitialized"]]


def test_counts_and_results_are_those_of_the_optimised_code():
    body, C = "float x[4]; for (int r = 0; r < 4; ++r) x[r] = A[r + i]; C[i] += x[3];", np.ones(64, F32)
    done = run(body, C=C)
    assert C[:32].tolist() == [5 + i for i in range(32)] and done.counts.local_load_words == 0


# ---- where variables live -------------------------------------------------------------------------------------------

DECLARATIONS = """struct S { float x[3]; char c; };
template <int N> __device__ float f(float v) {
    float inner[N];
    for (int i = 0; i < N; ++i) inner[i] = v;
    return inner[N / 2];
}
__global__ void k(int n, float *C) {
    float plain[4]; double wide[2]; S s; unsigned char bytes[2][5];
    const float *pointers[3]; typedef float Row[6]; volatile Row row;
    for (int i = 0; i < 4; ++i) plain[i] = i;
    for (int i = 0; i < 2; ++i) { float in_loop[2] = {n * 1.0f, 2}; C[i] = in_loop[n] + wide[n]; }
    for (int i = 0; i < 3; ++i) { pointers[i] = C + i; s.x[i] = i; row[i] = i; bytes[1][i] = i; }
    C[0] = plain[n] + *pointers[n] + s.x[n] + row[n] + bytes[n][1] + f<3>(1) + f<5>(2);
}
"""


def test_debug_information_names_every_local_array():
    ptx = compiler.compile_ptx(DECLARATIONS, "k", ("-G",))
    info = debug_info.read(ptx.text)
    assert {(a.name, a.line, a.size) for a in info.arrays} == {
        ("plain", 8, 16), ("wide", 8, 16), ("s", 8, 16), ("bytes", 8, 10), ("pointers", 9, 24), ("row", 9, 24),
        ("in_loop", 11, 8), ("inner", 3, 12), ("inner", 3, 20)}
    for one in info.arrays:
        for other in info.arrays:
            apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
            assert one is other or one.depot != other.depot or apart
    assert {v.name for (function, _), v in info.registers.items() if function == ptx.entry} >= {"n", "C", "i"}


@pytest.mark.parametrize("spoil", [
    lambda text: compiler.compile_ptx(DECLARATIONS, "k").text,
    lambda text: text.replace(".section\t.debug_abbrev", ".section\t.debug_other"),
    lambda text: text.replace(".b8 52\n", ".b8 199\n"),
    lambda text: text[:text.index(".debug_info") + 3000] + "\n}\n",
], ids=["optimised", "no abbreviations", "unknown tag", "cut off"])
def test_debug_information_that_cannot_be_understood_is_left_alone(spoil):
    text = spoil(compiler.compile_ptx(DECLARATIONS, "k", ("-G",)).text)
    assert isinstance(debug_info.read(text), debug_info.DebugInfo)


CALLS = {"__popc": "unsigned", "__clz": "int", "__brev": "unsigned", "abs": "int", "__mul24": "int, int",
         "__umul24": "unsigned, unsigned", "__mulhi": "int, int", "__umulhi": "unsigned, unsigned",
         "__byte_perm": "unsigned, unsigned, unsigned", "min": "int, int", "max": "int, int"}


@pytest.mark.parametrize("functions", [
    ["fmaf", "__fmaf_rz", "__fmaf_rd", "__fmaf_ru", "fminf", "fmaxf", "copysignf", "__fadd_rz", "__fsub_ru",
     "__fmul_rd", "__fdiv_rn", "__frcp_rn", "__fsqrt_rn", "fabsf", "sqrtf", "floorf", "ceilf", "truncf", "rintf",
     "__saturatef",
     "isnan"],
    ["__float2int_rn", "__float2int_rz", "__float2uint_ru", "__float2ll_rd", "__int2float_rn", "__uint2float_rn"],
    list(CALLS)], ids=["float", "conversion", "integer"])
def test_library_calls_of_unoptimised_code_compute_the_same(functions, monkeypatch):
    """Optimised PTX holds the instruction in place of the call."""
    numbers = {"fmaf": 3, "__fmaf_rz": 3, "__fmaf_rd": 3, "__fmaf_ru": 3, "fminf": 2, "fmaxf": 2, "copysignf": 2,
               "__fadd_rz": 2, "__fsub_ru": 2, "__fmul_rd": 2, "__fdiv_rn": 2}
    arguments = ["A[i]", "B[i]", "A[31 - i]"]

    def call(name):
        kinds = CALLS[name].split(", ") if name in CALLS else ["float"] * numbers.get(name, 1)
        scale = "" if kinds[0] == "float" else " * 1e6f"
        return f"{name}({', '.join(f'({kind})({x}{scale})' for kind, x in zip(kinds, arguments))})"
    lines = "\n".join(f"C[{n * 32} + i] = {call(name)};" for n, name in enumerate(functions))
    source = f"__global__ void k(const float *A, const float *B, float *C) {{ int i = threadIdx.x; {lines} }}"
    compile_ptx, random = compiler.compile_ptx, np.random.default_rng(3)
    A, B = np.abs(random.standard_normal((2, 32))).astype(F32) * 3
    results = []
    for options in ((), ("-G",)):
        monkeypatch.setattr(compiler, "compile_ptx", lambda s, e, o=(), options=options: compile_ptx(s, e, options))
        C = np.zeros(32 * len(functions), F32)
        done = emulate(source, "k", 1, 32, (A, B, C), mode="values")
        assert done.findings == ()
        results.append(C.reshape(-1, 32))
    for name, one, other in zip(functions, *results):
        assert np.array_equal(one, other), name
    assert set(functions) - {"isnan"} <= set(library.INSTRUCTIONS)
