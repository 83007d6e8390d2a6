"""The corpus of correct and broken kernels: `gl.check` passes the ones and names the defect of the others.

`corpus/README.md` describes the files. What the checker cannot do yet stands in LACKING, and only there: such a test
is expected to fail, and it turns the suite red as soon as it passes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import gemm_lab as gl

CORPUS = Path(__file__).parent / "corpus"
KINDS = {"out-of-bounds", "uninitialized", "race", "barrier-divergence", "misaligned", "endless-loop", "assertion",
         "unsupported", "wrong-values", "compile-error"}
FIELDS = {"entry", "grid", "block", "shared_bytes", "shapes", "line", "defect", "kinds", "about"}

SHAPES = [(35, 37, 19)]    # ragged against every tile of the corpus; a file that needs other sizes names them

LACKING = {    # what the checker lacks -> the kernels whose defect needs it
    "it takes __threadfence for granted": "split_k_no_fence",
    "optimised PTX has no uninitialized registers any more: the compiler has chosen a value":
        "naive_no_return_value naive_old_value_uninitialized naive_pointer_uninitialized naive_sum_uninitialized "
        "reg1d_sums_uninitialized reg2d_fragment_too_short reg2d_sums_uninitialized",
    "optimised PTX keeps small local arrays in registers, where nothing is out of bounds":
        "reg1d_one_sum_more reg1d_sums_too_few reg2d_flat_sums_index",
    "it does not know which words of local memory were written": "naive_memset_of_eight_bytes tiled_not_shared",
}
NOT_YET = {f"broken/{name}": f"the checker: {reason}" for reason, names in LACKING.items() for name in names.split()}


@dataclass(frozen=True)
class Case:
    """One file: what its head says, and the lines that carry its marker."""

    name: str
    source: str
    head: dict[str, str]

    @property
    def broken(self) -> bool:
        return self.name.startswith("broken/")

    @property
    def kinds(self) -> set[str]:
        return set(filter(None, re.split(r",\s*", self.head.get("kinds", ""))))

    @property
    def marked_lines(self) -> set[int]:
        body = re.sub(r"\A(// .*\n)+", lambda head: "\n" * head[0].count("\n"), self.source)
        return {n for n, line in enumerate(body.split("\n"), 1) if self.broken and self.head["defect"] in line}

    @property
    def needs_line(self) -> bool:
        """Only values can show some defects, and some stand in no line at all."""
        return self.kinds != {"wrong-values"} and self.head.get("line") != "none"

    @property
    def kernel(self) -> gl.CudaGemm:
        grid = eval(f"lambda M, N: {self.head['grid']}")
        return gl.CudaGemm(self.source, self.head["entry"], grid, eval(self.head["block"]),
                           eval(self.head.get("shared_bytes", "0")), self.name)

    @property
    def shapes(self) -> list[tuple[int, int, int]] | None:
        """None: those that `check` chooses itself."""
        named = self.head.get("shapes")
        return SHAPES if named is None else None if named == "default" else eval(f"[{named}]")


def read(path: Path) -> Case:
    source = path.read_text(encoding="utf-8")
    head = re.match(r"(// .*\n)+", source)[0]
    return Case(f"{path.parent.name}/{path.stem}", source, dict(re.findall(r"^// (\w+): (.*)$", head, flags=re.M)))


CASES = [read(path) for path in sorted(CORPUS.glob("*/*.cu"))]
CORRECT, BROKEN = [c for c in CASES if not c.broken], [c for c in CASES if c.broken]


def shortcoming(case: Case, verdict) -> str:
    """What is wrong with a verdict: "" if nothing, else one of "false", "missed", "wrong kind" and "wrong line"."""
    if not case.broken:
        return "" if verdict.passed else "false"
    if verdict.passed:
        return "missed"
    if not case.kinds & set(verdict.kinds):
        return "wrong kind"
    return "wrong line" if case.needs_line and not case.marked_lines & set(verdict.lines) else ""


def marked(cases: list[Case]) -> list:
    def mark(name):
        return [pytest.mark.xfail(strict=True, reason=NOT_YET[name])] if name in NOT_YET else []
    return [pytest.param(case, id=case.name.split("/")[1], marks=mark(case.name)) for case in cases]


@pytest.mark.parametrize("case", marked(CORRECT))
def test_a_correct_kernel_passes(case):
    verdict = gl.check(case.kernel, shapes=case.shapes)
    assert not shortcoming(case, verdict), verdict.report()


@pytest.mark.parametrize("case", marked(BROKEN))
def test_a_broken_kernel_is_found(case):
    verdict = gl.check(case.kernel, shapes=case.shapes)
    assert not shortcoming(case, verdict), (f"expected {case.kinds} in one of the lines {sorted(case.marked_lines)}, "
                                            f"found {verdict.kinds} in {verdict.lines}\n{verdict.report()}")


def test_the_corpus_is_large_and_well_formed():
    assert len(CORRECT) >= 40 and len(BROKEN) >= 60
    for case in CASES:
        assert set(case.head) <= FIELDS, f"{case.name}: unknown fields {set(case.head) - FIELDS}"
        assert {"entry", "grid", "block", "about"} <= set(case.head), case.name
        assert case.broken == bool(case.kinds) == ("defect" in case.head) and case.kinds <= KINDS, case.name
        if case.broken:
            assert case.marked_lines or not case.needs_line, f"{case.name}: no line carries {case.head['defect']!r}"
    assert set(NOT_YET) <= {case.name for case in CASES}
