"""`gl.check` against compute-sanitizer: races and accesses out of bounds, their kinds and their lines."""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from types import SimpleNamespace

import pytest

from benchmarks import planted, sanitizer
from gemm_lab import gpu
from gemm_lab.checking import Problem, inputs
from gemm_lab.records import files
from tests.fake_gpu import FAKES

RECORD = files.read(files.shipped("sanitizer", "H200"), "sanitizer")
ROWS = {(row["tool"], row["kernel"]): row for row in RECORD["rows"]}


def is_recorded(case) -> bool:
    """Whether the tool has seen this very kernel. The corpus changes without a GPU, nothing else may."""
    row = ROWS.get((case.tool, case.kernel.label), {"findings": None})
    return row["findings"] is not None and (not case.kernel.label.startswith("corpus/") or row == row | case.row)


CASES = [case for case in sanitizer.plan() if is_recorded(case)]
KINDS = {tool: {kind for kind, finder in sanitizer.TOOLS.items() if finder == tool} for tool in sanitizer.OPTIONS}


def ours(case) -> list[tuple[str, set[int]]]:
    """(kind, lines) of the emulator's findings that this tool could have made."""
    changes = [LARGER[case.kernel.label]] if case.kernel.label in LARGER else []
    found = check(case.kernel.label, case.size, *changes)
    return [(finding.kind, set(finding.lines)) for finding in found if finding.kind in KINDS[case.tool]]


# Two defects in one line, of which each side names one: in unoptimised code, at which check mode looks as well, a
# float2 is two loads of a word. Neither is misaligned, and the second one goes past the end of B.
OTHER_KIND = {"corpus/naive_float2_any_n": ("misaligned", "out-of-bounds")}

# To memcheck the shared memory of a block is one array: it does not name what goes past the end of As and lies in Bs.
# The emulator does, and ends there. Here As is large enough, so that it comes to the access past the end of Bs as well.
LARGER = {"corpus/tiled_extra_threads": ("As[8][8]", "As[12][8]"),
          "corpus/tiled_stage_counts_on": ("As[2][16][16]", "As[4][16][16]")}


@cache
def check(label: str, size: tuple[int, int, int], *changes: tuple[str, str]):
    """The emulator's findings in a kernel, with these changes (old, new) of its source."""
    kernel = next(case.kernel for case in CASES if case.kernel.label == label)
    kernel = kernel.edited(*changes) if changes else kernel
    A, B, C = inputs(Problem(*size, 1.0, 0.0))
    return kernel.run(A, B, C, 1.0, sanitizer.BETA, mode="check", backend="emulator").findings


def theirs(case) -> list[tuple[str, set[int]]]:
    """(kind, lines) of the tool's findings; a line in a header is left out."""
    return [(kind, set(lines)) for kind, *lines in ROWS[case.tool, case.kernel.label]["findings"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool} {case.kernel.label}")
def test_whatever_the_tool_finds_is_found(case):
    row = ROWS[case.tool, case.kernel.label]
    assert row == row | case.row, "examine again: python -m benchmarks.sanitizer"
    found, wanted = ours(case), theirs(case)
    if not case.broken:
        assert not found and not wanted
    elif wanted:
        theirs_, ours_ = OTHER_KIND.get(case.kernel.label, ("", ""))
        wanted = [(ours_ if kind == theirs_ else kind, lines) for kind, lines in wanted]
        same = [lines for kind, lines in wanted if any(kind == named and lines <= ours for named, ours in found)]
        assert same, f"{case.tool} names {wanted}, the emulator {found}"
        if case.tool == "racecheck":    # an access out of bounds ends the emulator's run, so it names the first
            assert set().union(*(lines for _, lines in wanted)) <= set().union(*(named for _, named in found))


@pytest.mark.parametrize("case", [case for case in CASES if case.kernel.label in LARGER],
                         ids=lambda case: case.kernel.label)
def test_what_goes_past_the_end_of_the_first_array_is_found_first(case):
    finding, = check(case.kernel.label, case.size)
    (_, lines), = theirs(case)
    assert finding.kind == "out-of-bounds" and " of As, " in finding.message and not lines & set(finding.lines)


def test_the_record_is_large_and_varied():
    for changes, tool in ((planted.RACES, "racecheck"), (planted.OUT_OF_BOUNDS, "memcheck")):
        assert sum(bool(ROWS[tool, label]["findings"]) for label in changes if (tool, label) in ROWS) >= 6
    found = Counter((case.tool, case.broken) for case in CASES if theirs(case))
    assert found["memcheck", True] >= 25 and found["racecheck", True] >= 30
    assert sum(row["findings"] is None for row in RECORD["rows"]) <= 0.02 * len(RECORD["rows"])
    correct = Counter(row["tool"] for row in RECORD["rows"] if not row["broken"])
    assert min(correct[tool] for tool in sanitizer.OPTIONS) >= 40 and not sanitizer.faults(RECORD["rows"])


def test_planted_defects_keep_the_lines():
    for kernel in planted.planted(planted.RACES | planted.OUT_OF_BOUNDS):
        plain = sanitizer.kernel_files.read(planted.HERE / f"{kernel.label.split(':')[0]}.cu")[-1]
        lines = list(zip(plain.source.split("\n"), kernel.source.split("\n"), strict=True))
        assert 1 <= sum(before != after for before, after in lines) <= 2


# --- reading compute-sanitizer

MEMCHECK = """========= COMPUTE-SANITIZER
launched case_0
========= Invalid __global__ read of size 4 bytes
=========     at word(const float *, short)+0x1b0 in kernel.cu:10
=========     by thread (0,1,0) in block (0,0,0)
=========     Access to 0x7fdc is out of bounds
=========     and is 37 bytes before the nearest allocation at 0x7fdd
=========         Device Frame: case_0(int, int)+0x1a0 in kernel.cu:18
=========
========= Invalid __shared__ write of size 8 bytes
=========     at void case_0<(int)2>(int, int)+0x250 in kernel.cu:21
=========     Access to 0x404 is misaligned
=========
launched case_1
========= ERROR SUMMARY: 2 errors
"""

RACECHECK = """========= COMPUTE-SANITIZER
launched case_0
launched case_1
========= Error: Race reported between Write access at case_1(int, int)+0x740 in kernel.cu:22
=========     and Read access at case_1(int, int)+0x410 in kernel.cu:20 [2752 hazards]
=========     and Read access at case_1(int, int)+0x430 in kernel.cu:20 [2560 hazards]
=========     and Write access at case_1(int, int)+0x740 in kernel.cu:22 [9 hazards]
=========
========= Warning: Race reported between Write access at __pipeline(void *)+0x500 in cuda_pipeline_primitives.h:21
=========     and Read access at case_1(int, int)+0x1840 in kernel.cu:31 [1580 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 errors, 1 warnings)
"""


def test_reports_of_memcheck():
    assert sanitizer.findings(MEMCHECK) == {"case_0": [["misaligned", 21], ["out-of-bounds", 10]], "case_1": []}


def test_reports_of_racecheck():
    assert sanitizer.findings(RACECHECK) == {"case_0": [], "case_1": [["race", 22, 20], ["race", 22, 22], ["race", 31]]}


def test_a_kernel_that_did_not_run_has_no_findings():
    assert sanitizer.findings("========= COMPUTE-SANITIZER\n========= Error: no device\n") == {}


def test_examining(monkeypatch):
    cases = [case for case in sanitizer.plan() if case.kernel.label in ("double_buffer: no barrier", "early_return")]
    assert [case.tool for case in cases] == ["racecheck", "memcheck", "racecheck"]
    launched = []

    def sanitize(tool, launches):
        launched.append((tool, [(kernel.entry, size, beta) for kernel, size, beta in launches]))
        return {"racecheck": RACECHECK, "memcheck": ""}[tool]
    monkeypatch.setattr(sanitizer, "sanitize", sanitize)
    rows = sanitizer.measure(cases)
    assert sorted(launched) == sorted((tool, [("case_0", sanitizer.RAGGED, sanitizer.BETA)])
                                      for tool in ("memcheck", "racecheck", "racecheck"))
    assert [row["findings"] for row in rows] == [[], None, []]
    assert sanitizer.faults(rows) == ["racecheck finds nothing in double_buffer: no barrier"]


def test_the_kernels_behind_one_that_ends_the_process_are_examined(monkeypatch):
    cases = [case for case in sanitizer.plan() if case.tool == "racecheck"][:5]
    words = ["launched case_0\nlaunched case_1\n" + sanitizer.KILLED,    # the second one hangs
             "Error: out of memory\n",                                    # the third one cannot be launched
             "launched case_0\n" + RACECHECK.split("launched case_1\n")[1] + sanitizer.KILLED,
             "launched case_0\n"]
    launched = []

    def sanitize(tool, launches):
        launched.append([kernel.label for kernel, _, _ in launches])
        return words[len(launched) - 1]
    monkeypatch.setattr(sanitizer, "sanitize", sanitize)
    races = [["race", 22, 20], ["race", 22, 22], ["race", 31]]
    assert sanitizer.examine(cases) == [[], None, None, races, []]
    labels = [case.kernel.label for case in cases]
    assert launched == [labels, labels[2:], labels[3:], labels[4:]]


def test_kernels_that_could_hang_or_end_a_process_are_kept_apart():
    for group in sanitizer.groups(sanitizer.plan()):
        tool, broken = group[0].tool, group[0].broken
        assert all((case.tool, case.broken) == (tool, broken) for case in group)
        assert len(group) <= (1 if (tool, broken) == ("memcheck", True) else sanitizer.TOGETHER)


def test_a_name_of_its_own_changes_no_line():
    case = next(case for case in sanitizer.plan() if case.kernel.entry.startswith("shared_tiling<"))
    named = case.named("case_7")
    assert named.entry == case.kernel.entry.replace("shared_tiling", "case_7") and named.compile("sm_90").cubin
    assert named.source.count("\n") == case.kernel.source.count("\n")


def test_without_a_gpu_or_the_tool_there_is_one_clear_line(monkeypatch, tmp_path):
    with pytest.raises(gpu.NoGpu):
        sanitizer.main(tmp_path)
    monkeypatch.setattr(gpu, "device", lambda: SimpleNamespace(name="NVIDIA H200", driver="580", arch="sm_90"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(gpu.NoGpu, match="compute-sanitizer is not on the PATH"):
        sanitizer.main(tmp_path)


def test_the_program_under_the_tool(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(gpu, "device", lambda: SimpleNamespace(arch="sm_90"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    (tmp_path / "compute-sanitizer").write_text(f"""#!{sys.executable}
import subprocess, sys
sys.exit(subprocess.run(sys.argv[sys.argv.index("{sys.executable}"):]).returncode)
""")
    (tmp_path / "compute-sanitizer").chmod(0o755)
    cases = [case for case in CASES if case.kernel.label == "double_buffer"]
    words = sanitizer.sanitize("memcheck", [(case.named(f"case_{n}"), case.size, 0.5) for n, case in enumerate(cases)])
    assert words.splitlines() == [f"launched case_{n}" for n in range(len(cases))]


def test_a_program_that_hangs_is_killed(monkeypatch, tmp_path):
    (tmp_path / "compute-sanitizer").write_text(f"""#!{sys.executable}
import time
print("launched case_0", flush=True)
time.sleep(60)
""")
    (tmp_path / "compute-sanitizer").chmod(0o755)
    monkeypatch.setattr(gpu, "device", lambda: SimpleNamespace(arch="sm_90"))
    monkeypatch.setattr(sanitizer, "SECONDS", 2)
    monkeypatch.setenv("PATH", str(tmp_path))
    case = next(case for case in CASES if case.kernel.label == "double_buffer")
    words = sanitizer.sanitize("memcheck", [(case.named("case_0"), case.size, 0.5)])
    assert sanitizer.findings(words) == {"case_0": None}
