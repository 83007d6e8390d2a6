"""From an instructor's notebook to what students get: other numbers for a seed, solutions and hidden tests left out.

    gemm-lab release                            notebooks/instructor -> notebooks/exercises
    gemm-lab release --seed TEXT --out FOLDER   the same assignments with numbers, tiles and bugs of that seed
"""

from __future__ import annotations

import copy
from pathlib import Path

from gemm_lab.exercises import cells, notebook, regions, sheets
from gemm_lab.exercises.assignment import Assignment

ESSAY = "*Your answer, in two or three sentences.*"
SOURCES, RELEASED = Path("notebooks/instructor"), Path("notebooks/exercises")


def lesson_of(path: Path) -> str:
    """The lesson that a notebook's name begins with: "02" of 02_shared_tiling.ipynb. ValueError for other names."""
    lesson = path.name[:2]
    if lesson not in sheets.LESSONS:
        raise ValueError(f"{path.name} belongs to no assignment: its name must begin with one of "
                         f"{', '.join(sheets.LESSONS)}")
    return lesson


def varied(source: dict, assignment: Assignment, seed: str | None) -> dict:
    """The instructor's notebook with the numbers, tiles and bugs of a seed; as it is without one."""
    result = copy.deepcopy(source)
    if seed is None:
        return result
    texts, (shown, _) = cells.sources(assignment, seed), assignment.draw(seed)
    for name, cell in notebook.by_name(result):
        cell["source"] = texts.get(name) or cells.filled(notebook.source(cell), shown)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return result


def released(source: dict) -> dict:
    """The student's version of an instructor's notebook. ValueError for a solution outside a cell for answers."""
    result = copy.deepcopy(source)
    for name, cell in notebook.by_name(result):
        cell["source"] = student_source(cell, name)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
        cell["metadata"] |= lock(cell["metadata"].get("nbgrader", {}))
    return result


def lock(role: dict) -> dict:
    """What JupyterLab is told: nobody deletes a cell that is graded, or edits one that is not for answers."""
    return {"deletable": False, **({"editable": False} if role["locked"] else {})} if role else {}


def student_source(cell: dict, name: str) -> str:
    """What a student sees of a cell."""
    text, role = notebook.source(cell), cell["metadata"].get("nbgrader", {})
    if cell["cell_type"] == "markdown":
        return ESSAY if role.get("solution") else cells.without_slots(text)
    if regions.BEGIN in text and not role.get("solution"):
        raise ValueError(f"the cell {name!r} holds a solution and is not marked as a cell for answers")
    if role.get("solution") and regions.BEGIN not in text:
        raise ValueError(f"the cell {name!r} is for answers and has no solution between {regions.BEGIN} and "
                         f"{regions.END}")
    return regions.stripped(text)


def write_release(source: Path, out: Path, seed: str | None = None, solutions: bool = False) -> Path:
    """Write the student's version of one notebook into the folder `out`, or the varied source; returns its path."""
    assignment = sheets.assignment(lesson_of(source))
    varied_source = varied(notebook.read(source), assignment, seed)
    out.mkdir(parents=True, exist_ok=True)
    fresh = varied_source if solutions else released(varied_source)
    target, text = out / source.name, notebook.text(fresh)
    if target.exists() and target.read_text(encoding="utf-8") != text and (solutions or worked_in(target, fresh)):
        raise ValueError(f"{target} is there and somebody has worked in it: move it away first")
    partial = target.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    return partial.replace(target)


def worked_in(path: Path, fresh: dict) -> bool:
    """Whether a cell of a student's notebook was run, or it differs from a fresh one in nothing but answers."""
    theirs = dict(notebook.by_name(notebook.read(path)))
    if any(cell.get("execution_count") or cell.get("outputs") for cell in theirs.values()):
        return True
    changed = [cell for name, cell in notebook.by_name(fresh)
               if notebook.source(theirs.get(name)) != notebook.source(cell)]
    return bool(changed) and all(cell["metadata"].get("editable", True) for cell in changed)


CONFIG = '''"""nbgrader's settings for GEMM Lab: `nbgrader generate_assignment 02`, and so on, in this folder."""

import os

try:
    from gemm_lab.exercises.nbgrader import configure
except ImportError as error:    # nbgrader would go on without these settings
    raise SystemExit(f"nbgrader does not find GEMM Lab, which must be in the same environment: {{error}}")

os.environ["GEMM_LAB_SEED"] = {seed!r}  # of the hidden sizes; students should not know it

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "gemm-lab"
configure(c)
'''


def write_config(course: Path, seed: str) -> None:
    """Write nbgrader's settings for a course, unless it has some."""
    path = course / "nbgrader_config.py"
    if not path.exists():
        path.write_text(CONFIG.format(seed=seed), encoding="utf-8")
