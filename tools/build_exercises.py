"""Bring the instructor's notebooks up to date with the assignments, run them, and release them: `make exercises`.

Prose is written in notebooks/instructor; the cells that follow from an assignment (gemm_lab/exercises/cells.py) and
what nbgrader wants to know of a cell are filled in here, then every notebook is run and its student version written.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

from gemm_lab.exercises import cells, release, sheets
from tools import build_notebooks
from tools.lessons import ROOT

INSTRUCTOR, RELEASED = ROOT / release.SOURCES, ROOT / release.RELEASED


def instructor_notebooks() -> list[Path]:
    """The sources of the exercises, in order."""
    return sorted(INSTRUCTOR.glob("[0-9]*.ipynb"))


def complete(notebook, lesson: str) -> None:
    """Fill in the cells of the assignment, and mark every cell for nbgrader."""
    assignment = sheets.assignment(lesson)
    texts, shown = cells.sources(assignment, None), assignment.shown
    for cell in notebook.cells:
        known = cell.metadata.get("nbgrader", {})
        name = known.get("grade_id", cell.id)
        cell.source = texts.get(name) or cells.filled(cell.source, shown)
        points = {name: known["points"]} if cell.cell_type == "markdown" and "points" in known else {}
        if marks := cells.role(name, assignment, points):
            cell.metadata["nbgrader"] = nbformat.from_dict(marks)


def build(path: Path) -> float:
    """Complete, run and write one instructor's notebook, and its student version. Returns seconds."""
    notebook = nbformat.read(path, as_version=4)
    complete(notebook, release.lesson_of(path))
    build_notebooks.write(notebook, path)
    seconds = build_notebooks.build(path)
    release.write_release(path, RELEASED)
    return seconds


def main(words: list[str]) -> int:
    """The command line: lessons to build (default: all)."""
    for path in instructor_notebooks():
        if not words or release.lesson_of(path) in words:
            print(f"{build(path):6.1f} s  {path.name}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
