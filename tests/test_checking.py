"""`gl.check`: right kernels pass, each planted defect fails with the kind and the line of its cause."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab import checking, compiler
from gemm_lab.checking import Problem, inputs, looked_at_twice, reference, wrong_values

SMALL = ((1, 1, 1), (33, 35, 19), (20, 40, 70))
TILED, FLAT = gl.SharedTiling(16), gl.RegisterTiling1D(16, 16, 8, 4)


def line_of(kernel, text: str, nth: int = 1) -> int:
    lines = [n for n, line in enumerate(kernel.source.splitlines(), 1) if text in line]
    return lines[nth - 1]


@pytest.mark.parametrize("kernel", [gl.Naive(), gl.Naive(False), TILED, gl.SharedTiling(32, 1), FLAT,
                                    gl.RegisterTiling1D(16, 16, 8, 4, True)], ids=str)
def test_course_kernels_pass_the_battery(kernel):
    verdict = gl.check(kernel)
    assert verdict.passed, verdict.report()
    assert "passed" in verdict.report()


FIRST, SECOND = "__syncthreads();  // nobody reads", "__syncthreads();  // nobody overwrites"


@pytest.mark.parametrize("barrier, lines", [
    (FIRST, ("As[ty][tx] =", "acc += As")), (SECOND, ("As[ty][tx] =", "acc += As"))])
def test_a_dropped_barrier_is_a_race_between_both_lines(barrier, lines):
    broken = TILED.edited((barrier, "//"))
    verdict = gl.check(broken, SMALL)
    assert "race" in verdict.kinds
    assert {line_of(broken, text) for text in lines} <= verdict.lines
    assert any(text in verdict.report() for text in lines)


@pytest.mark.parametrize("changes", [[(FIRST, "//")], [(SECOND, "//")], [(FIRST, "//"), (SECOND, "//")]])
def test_races_of_one_missing_barrier_are_one_failure(changes):
    """As and Bs race in lines of their own."""
    verdict = gl.check(TILED.edited(*changes), [(33, 35, 40)])
    races = [f for f in verdict.failures if f.kind == "race"]
    assert len(races) == 1 and len(races[0].lines) == 3 and "likewise" in races[0].message


def test_wrong_values_come_last_and_point_to_what_is_above():
    verdict = gl.check(TILED.edited(("float acc = 0.0f", "float acc")), SMALL)
    assert [f.kind for f in verdict.failures] in (["uninitialized"], ["uninitialized", "wrong-values"])
    no_zero = gl.check(TILED.edited(
        ("As[ty][tx] = (row < M && k0 + tx < K) ?", "if (row < M && k0 + tx < K) As[ty][tx] ="),
        ("A[(size_t)row * K + k0 + tx] : 0.0f;", "A[(size_t)row * K + k0 + tx];")), SMALL)
    assert [f.kind for f in no_zero.failures] == ["uninitialized", "wrong-values"]
    assert "may be the reason" in no_zero.report()


def test_an_endless_loop_ends_the_check():
    """Each further problem could take as long."""
    tried = []
    class Counted(gl.CudaGemm):
        def run(self, *args, **options):
            tried.append(args[0].shape)
            return super().run(*args, **options)
    naive = gl.Naive()
    endless = Counted(naive.source.replace("++k", "k += 0"), naive.entry, naive.grid, naive.block)
    assert gl.check(endless).kinds == {"endless-loop"} and len(tried) == 1


def test_garbage_that_nobody_stores_is_no_defect():
    """Rows and columns beyond the edges are not filled; their threads compute, and do not store."""
    kept = TILED.edited(("As[ty][tx] = (row < M && k0 + tx < K) ?", "if (row < M) As[ty][tx] = k0 + tx < K ?"),
                        ("Bs[ty][tx] = (k0 + ty < K && col < N) ?", "if (col < N) Bs[ty][tx] = k0 + ty < K ?"))
    assert gl.check(kept).passed, gl.check(kept).report()


def test_machine_code_is_compiled_for_budgets_alone(monkeypatch):
    def refuse(*_):
        raise AssertionError("nobody asked for machine code")
    kernel = gl.SharedTiling(TILE=8).with_source(gl.SharedTiling(TILE=8).source + "// not compiled before")
    monkeypatch.setattr(compiler, "compile_kernel", refuse)
    assert gl.check(kernel, shapes=[(9, 10, 11)]).passed
    with pytest.raises(AssertionError, match="nobody asked"):
        gl.check(kernel, shapes=[(9, 10, 11)], budgets={"shared_load_words": 10**6})


def test_what_is_looked_at_twice_is_small():
    assert set(looked_at_twice(checking.SHAPES)) < set(checking.SHAPES)
    assert looked_at_twice([(512, 512, 512)]) == []
    assert looked_at_twice([(64, 64, 64), (35, 79, 19)]) == [(35, 79, 19)]
    assert looked_at_twice([(100, 100, 100)]) == [(100, 100, 100)], "the only one"


def test_wrong_values_name_the_first_element_and_the_problem():
    broken = gl.Naive().edited(("k < K", "k < K - 1"))
    verdict = gl.check(broken, SMALL)
    assert verdict.kinds == {"wrong-values"}
    assert "C[0, 0]" in verdict.report() and "M=1, N=1, K=1" in verdict.report()


def test_a_verdict_shows_its_report_in_a_notebook_with_every_sign_escaped():
    verdict = gl.check(TILED.edited((FIRST, "//")), SMALL)
    assert html.escape(verdict.report()) in verdict._repr_html_() and "<T" not in verdict._repr_html_()


def test_a_grid_rounded_down_leaves_rows_unwritten():
    naive = gl.Naive(block=(16, 16))
    short = gl.CudaGemm(naive.source, naive.entry, lambda M, N: (-(-N // 16), max(M // 16, 1)), naive.block)
    verdict = gl.check(short, [(33, 35, 19)])
    assert verdict.kinds == {"wrong-values"} and "never written" in verdict.report()


def test_reading_c_at_beta_zero_is_wrong():
    broken = gl.Naive().edited(("beta == 0.0f ? alpha * acc : alpha", "alpha"))
    assert "wrong-values" in gl.check(broken, SMALL).kinds


COUNTER = """
__device__ unsigned arrived;

__global__ void last_one(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    if (threadIdx.x) return;
    if (atomicAdd(&arrived, 1) != gridDim.x * gridDim.y - 1) return;
    RESET
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            float acc = 0.0f;
            for (int k = 0; k < K; ++k) acc += A[i * K + k] * B[k * N + j];
            C[i * N + j] = beta == 0.0f ? alpha * acc : alpha * acc + beta * C[i * N + j];
        }
}
"""


@pytest.mark.parametrize("back_end", ["numpy", "llvm"])
@pytest.mark.parametrize("reset, right", [("arrived = 0;", True), ("", False), ("arrived = 1;", False)])
def test_what_a_launch_leaves_in_a_counter_is_remarked(reset, right, back_end, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", back_end)
    kernel = gl.CudaGemm(COUNTER.replace("RESET", reset), "last_one", lambda M, N: (3, 2), 32)
    verdict = gl.check(kernel, [(1, 1, 1), (4, 5, 6)])
    assert verdict.passed, "each launch is right as the first of its program"
    assert ("second launch" in verdict.remark and "arrived" in verdict.remark) is not right
    assert ("note: in a second launch" in verdict.report()) is not right


def test_a_kernel_without_variables_is_launched_no_second_time(monkeypatch):
    launched = []
    monkeypatch.setattr(checking, "_try", lambda *args, old=checking._try: launched.append(args) or old(*args))
    assert gl.check(TILED, SMALL).passed and len(launched) == 2 * len(SMALL)
    launched.clear()
    assert gl.check(gl.SplitK(32, 32, 8, 4, 4, SPLITS=2), [(35, 37, 19)]).remark == ""
    orders = [schedule for *_, schedule in (args for args in launched if len(args) == 6)]
    assert len(launched) == 4 and orders == [range(1, -1, -1)], "both problems, one in another order, a second launch"


def test_where_an_atomic_answers_the_last_warp_also_comes_first():
    """The counter is set without a barrier: right as long as warp 0 is the first."""
    source = """
__global__ void k(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;
    BARRIER
    int row = 0;
    for (;;) {
        if (threadIdx.x % 32 == 0) row = atomicAdd(&next, 1);
        row = __shfl_sync(~0u, row, 0);
        if (row >= M) break;
        for (int col = threadIdx.x % 32; col < N; col += 32) {
            float acc = 0.0f;
            for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
            C[row * N + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
        }
    }
}
"""
    def verdict(barrier: str) -> gl.Verdict:
        return gl.check(gl.CudaGemm(source.replace("BARRIER", barrier), "k", lambda M, N: 1, 96), [(5, 6, 7)])
    assert verdict("__syncthreads();").passed
    assert "race" in verdict("").kinds and verdict("").lines == {4, 8}


def test_a_swapped_guard_is_out_of_bounds_and_named():
    broken = gl.Naive().edited(("row >= M || col >= N", "row >= M && col >= N"))
    verdict = gl.check(broken, SMALL)
    assert "out-of-bounds" in verdict.kinds


def test_a_source_that_does_not_compile_is_a_verdict():
    broken = TILED.edited(("float acc = 0.0f;", "float acc = 0.0f"))
    verdict = gl.check(broken)
    assert not verdict.passed and verdict.kinds == {"compile-error"}
    near = line_of(broken, "float acc = 0.0f")
    assert verdict.lines and min(abs(n - near) for n in verdict.lines) <= 1
    assert "expected a" in verdict.report()    # the compiler's own words


@pytest.mark.parametrize("kernel, words", [
    (gl.CudaGemm(gl.Naive().source, "naive<true>", lambda M, N: (N // 32, M // 32), 32), "grid .* is \\(0, 0\\)"),
    (gl.CudaGemm("__global__ void __launch_bounds__(64) k() {}", "k", lambda M, N: 1, 32), "the kernel takes 0"),
    (TILED.edited(("__global__ void", "__global__ void __launch_bounds__(64)")), "__launch_bounds__ allow 64"),
])
def test_a_kernel_that_cannot_be_launched_is_a_verdict(kernel, words):
    verdict = gl.check(kernel, [(20, 20, 20)], budgets={"shared_load_words": 0})
    assert verdict.kinds == {"unsupported"} and re.search(words, verdict.report())


def test_a_mistyped_entry_is_an_error_and_no_verdict():
    with pytest.raises(ValueError, match="no kernel is named 'naiv'; this source has naive"):
        gl.check(gl.CudaGemm(gl.Naive().source, "naiv", lambda M, N: 1, 32))


def test_alpha_matters_even_where_beta_is_zero():
    assert gl.check(gl.Naive().edited(("? alpha * acc :", "? acc :")), [(5, 6, 7)]).kinds == {"wrong-values"}


def test_budgets():
    within = gl.check(FLAT, SMALL, budgets={"shared_loads_per_fma": 1.25, "spill_bytes": 0})
    assert within.passed, within.report()
    over = gl.check(TILED, SMALL, budgets={"shared_loads_per_fma": 1.25})
    assert over.kinds == {"over-budget"} and "shared_loads_per_fma is 2" in over.report()
    with pytest.raises(ValueError, match="unknown budget 'speed'"):
        gl.check(TILED, SMALL, budgets={"speed": 1})


def test_the_tolerance_admits_every_order_of_summation_and_nothing_much_larger():
    problem = Problem(40, 30, 500, 0.75, -1.5)
    A, B, C = inputs(problem)
    want, tolerance = reference(A, B, C, problem.alpha, problem.beta)
    for order in (slice(None), slice(None, None, -1)):
        acc = np.zeros((40, 30), np.float32)
        for k in range(500)[order]:
            acc += A[:, k:k + 1] * B[k:k + 1]
        got = np.float32(0.75) * acc + np.float32(-1.5) * C
        assert wrong_values(got, A, B, C, problem) is None
    off = want.astype(np.float32)
    off[3, 4] += 4 * tolerance[3, 4]
    assert "1 of 1200 elements of C are wrong; the first is C[3, 4]" in wrong_values(off, A, B, C, problem).message


def test_inputs_are_asymmetric():
    A, B, _ = inputs(Problem(20, 20, 20, 1, 0))
    assert len(np.unique(A)) == A.size and not np.array_equal(A, A.T) and not np.array_equal(A, B)


@pytest.mark.parametrize("arguments, words", [
    (dict(shapes=[]), "shapes is \\[\\]; it must be a list of sizes"), (dict(shapes=(4, 4, 4)), "shapes holds 4"),
    (dict(shapes=[(1, 1)]), "shapes holds \\(1, 1\\)"), (dict(shapes=[None]), "shapes holds None"),
    (dict(shapes=[("a", 1, 1)]), "M is 'a'"), (dict(shapes=[(-1, 2, 3)]), "M is -1"),
    (dict(shapes=[(10**6, 10**6, 10**6)]), "at most 134,217,728 FMAs"),
    (dict(shapes=[(10**5, 10**4, 1)]), "at most 134,217,728 FMAs, and as many elements"),
    (dict(budgets=[1]), "budgets is \\[1\\]"), (dict(budgets={1: 2}), "unknown budget 1"),
    (dict(budgets={"sass": 1}), "unknown budget 'sass'; there are fma, "),
    (dict(budgets={"registers": None}), "registers is None"), (dict(budgets={"fma": float("nan")}), "fma is nan"),
])
def test_arguments_of_check_that_make_no_sense(arguments, words):
    with pytest.raises(ValueError, match=words):
        gl.check(gl.Naive(), **arguments)


def test_what_is_no_kernel_cannot_be_checked():
    with pytest.raises(ValueError, match="kernel is None; it must be a kernel"):
        gl.check(None)


@pytest.mark.parametrize("write", ["const_cast<float *>(A)[0] = 5;", "const_cast<float *>(B)[row] = 0;"])
def test_inputs_are_protected(write):
    """A kernel that writes to A or B changes nothing of the caller's, and is found."""
    kernel = gl.Naive().edited(("float acc = 0.0f;", f"float acc = 0.0f; {write}"))
    A = np.ones((8, 8), np.float32)
    run = kernel.run(A, A)
    assert (A == 1).all() and not run.completed and run.findings[0].kind == "out-of-bounds"
    verdict = gl.check(kernel, SMALL)
    assert verdict.kinds == {"out-of-bounds"} and verdict.lines == {line_of(kernel, "float acc")}
