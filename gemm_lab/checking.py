"""Is a kernel right? Values against float64 on a battery of shapes, and every defect that the emulator sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from math import prod
from numbers import Real

import numpy as np

from gemm_lab.arguments import checked_kernel, checked_sizes
from gemm_lab.compiler import CompileError, compile_ptx
from gemm_lab.counts import WARP, Counts
from gemm_lab.emulator.reports import cxx_name
from gemm_lab.kernels import GemmKernel
from gemm_lab.run import Finding, Run, with_doubts

# Small, ragged, lopsided, larger than a tile in one direction only, wider than a byte, one that fits every tile, and C
# with more elements than a signed number of 16 bits can count.
SHAPES = ((1, 1, 1), (3, 3, 431), (2, 300, 5), (35, 79, 19), (33, 32, 32), (64, 64, 64), (100, 100, 100),
          (200, 201, 2), (130, 67, 45))
# (alpha, beta), for every other shape each pair: once C must not be read, once it must.
SCALARS = (((0.75, 0.0), (-0.5, -1.5)), ((1.0, 0.0), (1.0, 1.0)))
UNIT_ROUNDOFF = 2.0**-24                # of float32
LANES = 8192                            # threads that the emulator executes at once
TWICE, MOST_TWICE = 2**18, 2**23        # steps: what is executed a second time, and at most if it is one shape alone
ONE_BY_ONE = ("C is right if all warps advance together; here each warp of a block ran as far as it could before the "
              "next one did, so some warp does not wait long enough for another")
BACKWARDS = ("C is right if all warps advance together; here the last warp of a block ran first, and each as far as it "
             "could, so some warp does not wait for what another one does before")
MAX_SHAPE = 2**27                       # FMAs, and elements, of a shape: a check of 512^3 takes seconds

RESOURCES = ("registers", "shared_bytes", "local_bytes", "spill_bytes")    # of Compiled
BUDGETS = (*(f.name for f in fields(Counts)), "wavefronts", "wavefronts_per_warp_fma", "global_loads_per_fma",
           "shared_loads_per_fma", *RESOURCES)


@dataclass(frozen=True)
class Problem:
    """One multiplication to try: the sizes, and the factors alpha and beta."""

    M: int
    N: int
    K: int
    alpha: float
    beta: float

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.M, self.N, self.K

    def __str__(self) -> str:
        return f"M={self.M}, N={self.N}, K={self.K}, alpha={self.alpha:g}, beta={self.beta:g}"


@dataclass(frozen=True)
class Failure:
    """One thing that is wrong: its kind, in words, the problem that showed it, and the source lines it names."""

    kind: str
    message: str
    problem: Problem | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The result of `check`: falsy attribute `.passed` where something is wrong, and `.report()` for the student.
    `remark` is something to know about a kernel that passed."""

    kernel: str
    failures: tuple[Failure, ...]
    problems: tuple[Problem, ...]
    source: str = field(repr=False, default="")
    remark: str = ""

    @property
    def passed(self) -> bool:
        return not self.failures

    @property
    def kinds(self) -> set[str]:
        """Kinds of findings, and "wrong-values", "compile-error" or "over-budget"."""
        return {f.kind for f in self.failures}

    @property
    def lines(self) -> set[int]:
        """Source lines that the failures name."""
        return {n for f in self.failures for n in f.lines}

    def report(self) -> str:
        """What is right or wrong, where, with the source lines shown."""
        tried = f"{len(self.problems)} problem{'s' * (len(self.problems) != 1)}"
        if self.passed:
            note = f"\n\nnote: {self.remark}" if self.remark else ""
            return f"{self.kernel}: passed ({tried}, values and findings){note}"
        return "\n".join([f"{self.kernel}: failed"] + [self._paragraph(f) for f in self.failures])

    def _paragraph(self, failure: Failure) -> str:
        text = self.source.splitlines() if failure.kind != "compile-error" else []    # whose message shows the lines
        shown = [f"    {n:4d} | {text[n - 1]}" for n in sorted(set(failure.lines)) if 1 <= n <= len(text)]
        where = [f"    seen with {failure.problem}"] if failure.problem else []
        if failure.kind == "wrong-values" and self.kinds - {"wrong-values", "over-budget"}:
            where = [f"    seen with {failure.problem}; what is said above may be the reason"]
        return "\n".join([f"\n{failure.kind}: {failure.message}"] + shown + where)

    def __repr__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        # A notebook breaks the lines of plain text in the middle of words.
        return f'<pre style="white-space: pre-wrap; word-break: normal">{escape(self.report())}</pre>'


def check(kernel: GemmKernel, shapes: Sequence[tuple[int, int, int]] | None = None,
          budgets: Mapping[str, float] | None = None) -> Verdict:
    """Run `kernel` in the emulator on each shape (M, N, K), once with beta = 0 and once without, and judge it.

    Values are compared with a float64 product; C holds NaN where it must not be read. `budgets` gives upper limits for
    counts or resources on the last shape, with beta = 0: {"shared_loads_per_fma": 1.125, "registers": 64}. Each defect
    is reported once, for the first problem that shows it. Small shapes are looked at twice: the unoptimised code shows
    variables without a value and the bounds of local arrays. Each launch is the first of its program; where a kernel
    has __device__ variables of its own, a remark says if a second one would go wrong. Where warps wait for flags, or
    learn something from atomics, one shape also runs one warp at a time: both hide who is ahead of whom. An endless
    loop ends the check.
    A source that does not compile is a failed Verdict, and no exception.
    """
    checked_kernel(kernel)
    shapes = SHAPES if shapes is None else checked_shapes(shapes)
    check_budgets(budgets or {})
    problems = [Problem(*shape, *scalars) for n, shape in enumerate(shapes) for scalars in SCALARS[n % 2]]
    smallest, *others = looked_at_twice(shapes) or [None]    # with beta*C, which comes last, only the smallest
    twice = {p for p in problems if p.shape == smallest or p.shape in others and p.beta == 0}
    by_beta: dict[float, Run] = {}    # the last run for each beta; budgets do without the FMAs that beta*C adds
    try:
        compile_ptx(kernel.source, kernel.entry)    # a mistyped entry is no defect of the kernel: ValueError
        runs = []
        for problem in problems:
            counted, variables = bool(budgets) and problem.shape == problems[-1].shape, {}
            run, wrong = _try(kernel, problem, problem in twice, counted, variables)
            runs.append((run, problem, wrong))
            if problem in twice and run.findings:
                twice.clear()    # there is enough to mend
            by_beta[problem.beta] = run
            if any(f.kind == "endless-loop" for f in run.findings):
                break    # each further one may take as long
        failures = _each_once(_failures(runs)) or _each_once(_in_another_order(kernel, runs))
        remark = "" if failures else _second_launch(kernel, problems[-1], variables)
        if budgets and by_beta[0.0].completed:
            failures += _over_budget(kernel, by_beta[0.0], budgets)
    except CompileError as error:
        lines = tuple(d.line for d in error.diagnostics if d.line and d.severity == "error")
        failures, remark = [Failure("compile-error", str(error), lines=lines)], ""
    return Verdict(kernel.label, tuple(failures), tuple(problems), kernel.source, remark)


def checked_shapes(shapes) -> list[tuple[int, int, int]]:
    """The shapes as (M, N, K); ValueError for anything else, and for problems that would take the emulator hours."""
    if not isinstance(shapes, list | tuple) or not shapes:
        raise ValueError(f"shapes is {shapes!r}; it must be a list of sizes (M, N, K)")
    return [_checked_shape(shape) for shape in shapes]


def _checked_shape(shape) -> tuple[int, int, int]:
    if not isinstance(shape, list | tuple) or len(shape) != 3:
        raise ValueError(f"shapes holds {shape!r}; each must be three sizes (M, N, K)")
    M, N, K = checked_sizes(*shape)
    if max(M * N * K, M * K + K * N + M * N) > MAX_SHAPE:
        raise ValueError(f"shapes holds {shape!r}; a check takes at most {MAX_SHAPE:,} FMAs, and as many elements")
    return M, N, K


def looked_at_twice(shapes: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The shapes for which the unoptimised code is executed, too: the smallest, as many as take little time."""
    time = {shape: _time(shape) for shape in shapes}
    chosen = sorted(time, key=time.get)
    while len(chosen) > 1 and sum(time[shape] for shape in chosen) > TWICE:
        chosen.pop()
    return [shape for shape in chosen if time[shape] <= MOST_TWICE]


def _time(shape: tuple[int, int, int]) -> int:
    """In steps. The emulator works on some thousand threads at once, so a small shape takes as long as K is large."""
    M, N, K = shape
    return K * (LANES + M * N)


def _in_another_order(kernel: GemmKernel, runs) -> Iterator[Failure]:
    """What is wrong with a kernel if each warp runs as far as it can before the next one does.

    Warps that advance together never come far ahead of each other, and what they learn from a flag, or from an atomic's
    answer, looks like order. Where they wait for flags, the first warp comes first; where they learn from atomics, the
    last one does. The shape with the largest K is tried: there buffers are used again most often.
    """
    short = [(run, problem) for run, problem, _ in runs if problem.beta == 0 and _time(problem.shape) <= MOST_TWICE]
    backwards = range(-(-prod(kernel.block) // WARP))[::-1]
    waiting, learning = ([p for run, p in short if getattr(run, what)] for what in ("waits", "learns"))
    for order, told in ("warps", waiting), (backwards, learning):
        if told and len(backwards) > 1:
            longest = max(told, key=lambda problem: problem.K)
            run, wrong = _try(kernel, longest, False, False, {}, order)
            yield from _failures([(run, longest, wrong)])


def _second_launch(kernel: GemmKernel, problem: Problem, variables: dict) -> str:
    """A remark, if the kernel is wrong in a second launch, which finds in `variables` what the first one left there."""
    if not variables:
        return ""
    run, wrong = _try(kernel, problem, False, False, variables)
    if not wrong and not run.findings:
        return ""
    names = ", ".join(map(cxx_name, variables))
    return (f"in a second launch of the same program C would be wrong: it finds what the first one left in {names}. "
            "Whoever launches the kernel must set that back, or the kernel itself before it ends")


def _try(kernel: GemmKernel, problem: Problem, twice: bool, counted: bool, variables: dict,
         schedule: str | range = "lockstep") -> tuple[Run, list[Failure]]:
    A, B, C = inputs(problem)
    try:
        run = kernel.run(A, B, None if problem.beta == 0 else C, problem.alpha, problem.beta, mode="check",
                         unoptimized=twice, machine_code=counted, variables=variables, schedule=schedule)
    except ValueError as error:    # A, B and C are right, so it is the kernel's signature, its block or its grid
        return Run(None, completed=False), [Failure("unsupported", f"the kernel cannot be launched: {error}", problem)]
    about_order = {"lockstep": (), "warps": (ONE_BY_ONE,)}.get(schedule, (BACKWARDS,))
    notes = run.notes + about_order
    wrong = wrong_values(run.C, A, B, C, problem, notes) if run.completed else None
    return run if twice else with_doubts(run), [wrong] if wrong else []


def inputs(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random A, B, C for a problem: no symmetry and no two equal elements that could hide a swapped index."""
    random = np.random.default_rng([problem.M, problem.N, problem.K])
    shapes = (problem.M, problem.K), (problem.K, problem.N), (problem.M, problem.N)
    return tuple(random.standard_normal(shape, dtype=np.float32) for shape in shapes)


def reference(A, B, C, alpha: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """alpha*A*B + beta*C in float64, and the most by which a float32 result may differ from it, element by element.

    A sum of K products, rounded at each step and in any order, is off by at most gamma(K) * |A|*|B| with
    gamma(n) = n*u / (1 - n*u), u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); alpha,
    beta and the last addition add a few roundings more. The smallest normal float32 covers results that underflow.
    """
    a, b = A.astype(np.float64), B.astype(np.float64)
    wide_c = C.astype(np.float64) if beta != 0 else np.zeros(C.shape)
    roundings = (A.shape[1] + 4) * UNIT_ROUNDOFF
    size = abs(alpha) * (np.abs(a) @ np.abs(b)) + abs(beta) * np.abs(wide_c)
    tolerance = roundings / (1 - roundings) * size + np.finfo(np.float32).tiny
    return alpha * (a @ b) + beta * wide_c, tolerance


def wrong_values(got, A, B, C, problem: Problem, notes: Sequence[str] = ()) -> Failure | None:
    """The first element of `got` that is too far from the float64 result, how many there are, and why, perhaps."""
    want, tolerance = reference(A, B, C, problem.alpha, problem.beta)
    with np.errstate(invalid="ignore"):
        bad = ~(np.abs(got - want) <= tolerance)    # NaN is bad, too
    if not bad.any():
        return None
    row, col = np.argwhere(bad)[0]
    message = (f"{np.count_nonzero(bad)} of {bad.size} elements of C are wrong; the first is C[{row}, {col}] = "
               f"{got[row, col]:.7g}, and alpha*A*B + beta*C is {want[row, col]:.7g} there (rounding may be off by "
               f"{tolerance[row, col]:.1g})")
    if problem.beta == 0 and np.isnan(got[row, col]):
        message += (". NaN: the element was never written, or C was read although beta is 0, "
                    "or unwritten memory was used")
    return Failure("wrong-values", ". ".join([message, *notes]), problem)


def _failures(runs: list[tuple[Run, Problem, list[Failure]]]) -> Iterator[Failure]:
    """What is wrong in all runs, leaving out what may be a consequence of something else."""
    hidden = not all(run.optimized for run, _, _ in runs)
    values = any(wrong for _, _, wrong in runs)
    for run, problem, wrong in runs:
        if not (hidden and run.optimized):
            found = *run.findings, *(run.doubtful if values else ())
            if any(f.kind == "barrier-divergence" for f in found):    # then nobody knows which epoch it is
                found = [f for f in found if f.kind not in ("race", "uninitialized")]
            yield from _from_findings(found, problem)
        yield from wrong


def _each_once(failures: Iterable[Failure]) -> list[Failure]:
    """Each defect once, wrong values last.

    A missing barrier is a race between every pair of lines on its two sides: races that have a line in common are one.
    """
    found: dict[tuple, Failure] = {}
    for failure in failures:
        found.setdefault((failure.kind, failure.lines), failure)
    races = [f for f in found.values() if f.kind == "race"]
    groups: list[list[Failure]] = []
    for race in races:
        near = [group for group in groups if any(set(race.lines) & set(other.lines) for other in group)]
        groups = [group for group in groups if group not in near] + [[*sum(near, []), race]]
    merged = {id(group[0]): _merged(group) for group in groups}
    kept = [merged.get(id(f), f) for f in found.values() if f.kind != "race" or id(f) in merged]
    return sorted(kept, key=lambda f: f.kind == "wrong-values")


def _merged(races: list[Failure]) -> Failure:
    """One failure for several races."""
    first, *others = races
    pairs = [sorted(set(other.lines)) for other in others]
    names = [f"lines {pair[0]} and {pair[1]}" if len(pair) == 2 else f"line {pair[0]} with itself" for pair in pairs]
    more = f"; likewise {', '.join(dict.fromkeys(names))}" if names else ""
    return replace(first, message=first.message + more,
                   lines=tuple(dict.fromkeys(n for race in races for n in race.lines)))


def _from_findings(findings: Sequence[Finding], problem: Problem) -> list[Failure]:
    return [Failure(f.kind, f.message, problem, f.lines) for f in findings]


def check_budgets(budgets) -> None:
    """ValueError unless these are limits by name."""
    if not isinstance(budgets, Mapping):
        raise ValueError(f"budgets is {budgets!r}; it must be a dict of names and limits")
    for name, limit in budgets.items():
        if name not in BUDGETS:
            raise ValueError(f"unknown budget {name!r}; there are {', '.join(BUDGETS)}")
        if not isinstance(limit, Real) or isinstance(limit, bool) or not limit >= 0:
            raise ValueError(f"the budget for {name} is {limit!r}; it must be a number, 0 or more")


def _over_budget(kernel: GemmKernel, run: Run, budgets: Mapping[str, float]):
    for name, limit in budgets.items():
        used = getattr(kernel.compile() if name in RESOURCES else run.counts, name)
        if used is not None and used > limit:
            yield Failure("over-budget", f"{name} is {used:,.6g}; the budget is {limit:,.6g}")
