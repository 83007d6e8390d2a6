"""How long grading takes: `make bench-grade`.

Writes submissions of every assignment, right ones, blank ones, ones with mistakes and a few that hang, grades them as
`gemm-lab grade` does, and prints seconds; then the time of `gl.check` for one kernel on its eight shapes, compilation
included, with each back end of the emulator.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import gemm_lab as gl
from gemm_lab.exercises import cells, notebook, regions, release, sheets
from gemm_lab.exercises.tasks import each_wrong
from gemm_lab.grading.limits import Limits
from gemm_lab.grading.pool import score_all
from gemm_lab.grading.submissions import find
from tools.build_exercises import RELEASED, instructor_notebooks

KINDS = ("right", "right", "right", "mistakes", "half", "half", "blank", "hangs")


def submission(source: Path, kind: str) -> dict:
    """A notebook of one kind."""
    student = notebook.read(RELEASED / source.name)
    if kind == "blank":
        return student
    assignment = sheets.assignment(release.lesson_of(source))
    answers = cells.sources(assignment, None)
    names = [task.name for task in assignment.tasks]
    chosen = {name: answers[name] for name in names[::2 if kind == "half" else 1]}
    if kind == "mistakes":
        chosen |= mistakes(assignment)
    if kind == "hangs":
        chosen |= {name: hanging(text) for name, text in chosen.items() if "// ### END" in text}
    for name, cell in notebook.by_name(student):
        cell["source"] = chosen.get(name, cell["source"])
    return student


def mistakes(assignment) -> dict[str, str]:
    """The first known mistake of each task that has some."""
    numbers, found = assignment.drawn(None), {}
    for task in assignment.tasks:
        if task.mistakes and task.name != "column":
            _, answer = next(each_wrong(task, numbers))
            found[task.name] = f"{task.name} = {answer!r}"
    return found


def hanging(text: str) -> str:
    """A kernel that prints for ever, in the place of the first region."""
    loop = 'for (int i = 0; i < 1000000000; ++i) printf("%d ", i);'
    at = text.index(regions.BEGIN)
    line_end = text.index("\n", at)
    return f"{text[:line_end]}\n{loop}{text[line_end:]}"


def write(folder: Path, students: int) -> None:
    """The submissions of a class, each student handing in one assignment."""
    sources = instructor_notebooks()
    for n in range(students):
        source = sources[n % len(sources)]
        path = folder / f"student{n:03d}" / source.name
        path.parent.mkdir(parents=True)
        path.write_text(notebook.text(submission(source, KINDS[n // len(sources) % len(KINDS)])), encoding="utf-8")


def grade(students: int, jobs: int) -> None:
    """Grade a class and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), students)
        submissions, _ = find(Path(folder))
        start = time.perf_counter()
        results = score_all(submissions, None, jobs, Limits())
        total = time.perf_counter() - start
    seconds = sorted(result.seconds for result in results)
    print(f"{len(results)} submissions, {jobs} at a time on {os.cpu_count()} processors: {total:.0f} s; each "
          f"{sum(seconds) / len(seconds):.1f} s on average, {seconds[-1]:.1f} s at most")


CHECK = """
import time, gemm_lab as gl
gl.check(gl.Naive(block=(8, 8)))    # imports, and the first call of the compiler
for kernel in (gl.Naive(), gl.SharedTiling(32), gl.RegisterTiling1D(64, 64, 8, 8)):
    mine = kernel.with_source(kernel.source + "// mine")
    start = time.perf_counter()
    assert gl.check(mine).passed
    print(f"    {time.perf_counter() - start:.2f} s  {kernel}")
"""


def check_times() -> Iterator[str]:
    """The seconds of `gl.check` by back end."""
    for backend in ("numpy", "llvm"):
        done = subprocess.run([sys.executable, "-c", CHECK], env=os.environ | {"GEMM_LAB_EMULATOR": backend},
                              capture_output=True, text=True)
        yield f"gl.check, {backend}:\n{done.stdout or done.stderr.strip().splitlines()[-1]}"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench-grade", description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(words)
    print(f"gemm_lab {gl.__version__}")
    grade(12, options.jobs)
    grade(options.students, options.jobs)
    for text in check_times():
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
