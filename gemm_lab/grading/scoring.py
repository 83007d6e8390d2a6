"""The process that scores one submission: `python -m gemm_lab.grading.scoring`, started by pool.py.

A job comes in on standard input, one line of JSON, then a line for each task with its seconds; what is found goes out,
a line for each event. Nothing of the notebook is executed here. A function that a student wrote is handed back to the
parent, who has it run in a sandbox.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from time import process_time

from gemm_lab.exercises import notebook, sheets
from gemm_lab.exercises.answers import has_function, read_answer
from gemm_lab.exercises.cells import setup
from gemm_lab.exercises.expressions import Unreadable
from gemm_lab.exercises.feedback import Feedback, wrong
from gemm_lab.exercises.function_tasks import Function, Outputs
from gemm_lab.exercises.tasks import Numbers, Task
from gemm_lab.grading.limits import more_time

LONGEST_ESSAY = 20_000      # characters that a report shows


def say(**event) -> None:
    """One line to the parent."""
    print(json.dumps(event), flush=True)


def heard() -> dict:
    """One line from the parent; empty where there are no more."""
    return json.loads(sys.stdin.readline() or "{}")


def main() -> int:
    """Score the tasks that the parent names, one after the other."""
    job = heard()
    assignment = sheets.assignment(job["lesson"])
    numbers = assignment.drawn(job["seed"])
    more_time(job["seconds"])
    try:
        cells = dict_of_first(notebook.read(Path(job["path"])))
    except (OSError, ValueError) as error:
        say(event="unreadable", message=str(error))
        return 0
    sheet = setup(assignment, *assignment.draw(job["seed"]))
    say(event="read", essays=essays(cells), ours=notebook.source(cells.get("setup")).strip() in ("", sheet))
    while task := heard():
        more_time(task["seconds"])
        start, source = process_time(), notebook.source(cells.get(task["task"], {}))
        feedback = judge(assignment[task["task"]], source, numbers, job["secret"])
        say(event="scored", feedback=asdict(feedback), source=source[:LONGEST_ESSAY], seconds=process_time() - start)
    return 0


def dict_of_first(book: dict) -> dict[str, dict]:
    """Cell id -> cell; where an id occurs twice, because a cell was copied, the first one counts."""
    found: dict[str, dict] = {}
    for name, cell in notebook.by_name(book):
        found.setdefault(name, cell)
    return found


def essays(cells: dict[str, dict]) -> dict[str, str]:
    """The answers that are marked by hand."""
    return {name: notebook.source(cell)[:LONGEST_ESSAY] for name, cell in cells.items() if name.startswith("essay-")}


def judge(task: Task, source: str, numbers: Numbers, secret: str) -> Feedback:
    """The feedback for what stands in the cell of a task."""
    if not source.strip():
        return wrong(task.name, "not-answered", "The cell of this task is empty, or it is not in the notebook.")
    try:
        answer = function_outputs(task, source, secret) if isinstance(task, Function) else read_answer(source,
                                                                                                       task.name)
    except Unreadable as error:
        return wrong(task.name, "unreadable", f"{str(error)[:1].upper()}{str(error)[1:]}.")
    return task.check(answer, numbers, secret)


def function_outputs(task: Function, source: str, secret: str) -> Outputs:
    """What the student's function returns, by way of the parent's sandbox."""
    if not has_function(source, task.name):
        raise Unreadable(f"the cell defines no function {task.name!r}")
    say(event="run", source=source, name=task.name, inputs=task.all_inputs(secret))
    answer = heard()
    return Outputs(tuple(answer["values"]), answer["fault"])


if __name__ == "__main__":
    sys.exit(main())
