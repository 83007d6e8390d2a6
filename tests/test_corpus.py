"""The corpus of correct and broken kernels: `gl.check` passes the ones and names the defect of the others.

`corpus/README.md` describes the files.
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


@pytest.mark.parametrize("case", CORRECT, ids=lambda case: case.name.split("/")[1])
def test_a_correct_kernel_passes(case):
    verdict = gl.check(case.kernel, shapes=case.shapes)
    assert not shortcoming(case, verdict), verdict.report()


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name.split("/")[1])
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
