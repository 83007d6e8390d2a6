"""The cells of a notebook of exercises that follow from its assignment: set-up, answers with their solutions, checks.

A cell is known by its id: "setup", the task's name for the answer, "check-NAME" for its check. All else in a notebook,
the prose and its order, is the instructor's. In prose, <!--name-->value<!--/--> holds a number of the sheet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.function_tasks import Function
from gemm_lab.exercises.kernel_tasks import Kernel
from gemm_lab.exercises.tasks import Numbers, Task

SLOT = re.compile(r"<!--(\w+)-->(.*?)<!--/-->")


def sources(assignment: Assignment, seed: str | None) -> dict[str, str]:
    """Cell id -> the instructor's source, for the public version or for a seed."""
    shown, form = assignment.draw(seed)
    numbers = assignment.numbers(shown, form)
    cells = {"setup": setup(assignment, shown, form)}
    for task in assignment.tasks:
        cells[task.name] = answer(task, numbers)
        cells[f"check-{task.name}"] = check(task)
    return cells


def setup(assignment: Assignment, shown: Mapping[str, object], form: str) -> str:
    """The first cell: this sheet's numbers."""
    parts = [f'"{assignment.lesson}"', *([f'form="{form}"'] if set(form) - {"a"} else [])]
    parts += [f"{name}={_quoted(value)}" for name, value in shown.items()]
    return f"import gemm_lab as gl\n\nsheet = gl.Sheet({', '.join(parts)})\nsheet"


def _quoted(value) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def answer(task: Task, numbers: Numbers) -> str:
    """The cell of the answer, with the solution in a region."""
    if isinstance(task, Kernel):
        return f'{task.name} = """\n{task.text(numbers)}\n"""'
    if isinstance(task, Function):
        first, body = task.solution(numbers).split("\n", 1)
        return f"{first}\n{regions.region(body, f'raise NotImplementedError({task.asked!r})')}"
    return regions.region(f"{task.name} = {task.solution(numbers)}", f"{task.name} = None    # {task.asked}")


def check(task: Task) -> str:
    """The cell of the check: for the student on the sizes that the sheet shows, for the grader on hidden ones, too."""
    return "\n".join([f'sheet.check("{task.name}", {task.name})', regions.BEGIN_HIDDEN,
                      f'sheet.grade("{task.name}", {task.name})', regions.END_HIDDEN])


def filled(text: str, shown: Mapping[str, object]) -> str:
    """Prose with the numbers of a sheet in its slots; ValueError for a slot that the assignment does not know."""
    def value(match: re.Match) -> str:
        if match[1] not in shown:
            raise ValueError(f"the prose has a slot {match[1]!r}; the assignment has {', '.join(shown)}")
        return f"<!--{match[1]}-->{shown[match[1]]}<!--/-->"
    return SLOT.sub(value, text)


def without_slots(text: str) -> str:
    """Prose with its numbers and without the marks around them."""
    return SLOT.sub(r"\2", text)


def role(cell_id: str, assignment: Assignment, points: Mapping[str, int]) -> dict | None:
    """nbgrader's metadata of a cell; None for prose. `points` are those of the essays, by cell id."""
    names = {task.name: task for task in assignment.tasks}
    common = {"grade_id": cell_id, "schema_version": 3, "task": False}
    if cell_id in points:
        return common | {"grade": True, "locked": False, "solution": True, "points": points[cell_id]}
    if cell_id in names:
        return common | {"grade": False, "locked": False, "solution": True}
    if cell_id.startswith("check-") and cell_id.removeprefix("check-") in names:
        task = names[cell_id.removeprefix("check-")]
        return common | {"grade": True, "locked": True, "solution": False, "points": task.points}
    if cell_id == "setup" or cell_id.startswith("given-"):
        return common | {"grade": False, "locked": True, "solution": False}
    return None
