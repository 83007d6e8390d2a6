"""What is written about graded submissions: scores.csv, items.csv, class.html, and a page for each student and lesson.

Reports speak of the student's own text and lines. Hidden sizes and model answers are not in them: a `Feedback` has
neither.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from gemm_lab.exercises import sheets
from gemm_lab.exercises.kernel_tasks import Kernel
from gemm_lab.grading.pool import Result
from gemm_lab.tables import html_table

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; }} th, td {{ padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #ccc;
}} pre {{ white-space: pre-wrap; background: #f4f4f4; padding: .6rem; }}
mark {{ background: #f9d9a8; }}
</style>
<h1>{title}</h1>
{body}
</html>
"""


@dataclass(frozen=True)
class Item:
    """One task in the class: how many have it right, and which mistakes were made how often."""

    lesson: str
    task: str
    answered: int
    passed: int
    students: int
    kinds: tuple[tuple[str, int], ...]


def write_all(results: Sequence[Result], out: Path) -> None:
    """Write every report below the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    write_scores(results, out / "scores.csv")
    found = items(results)
    write_items(found, out / "items.csv")
    (out / "class.html").write_text(class_page(results, found), encoding="utf-8")
    for result in results:
        folder = out / "students" / result.submission.student
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{result.submission.lesson}.html").write_text(student_page(result), encoding="utf-8")


def write_scores(results: Sequence[Result], path: Path) -> None:
    """One row for each submission: points by task, their sum, and what was odd. Essays are marked by hand."""
    names = list(dict.fromkeys(f"{r.submission.lesson} {t.name}" for r in results for t in tasks(r)))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["student", "lesson", "score", "max_score", *names, "seconds", "note"])
        for result in results:
            points = {f"{result.submission.lesson} {t.name}": earned(result, t) for t in tasks(result)}
            writer.writerow([harmless(result.submission.student), result.submission.lesson, result.score, result.most,
                             *(points.get(name, "") for name in names), f"{result.seconds:.1f}", harmless(result.said)])


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text


def tasks(result: Result):
    return sheets.assignment(result.submission.lesson).tasks


def earned(result: Result, task) -> int:
    """Points of a result for a task."""
    return task.points if task.name in result.feedback and result.feedback[task.name].passed else 0


# --- the class

def items(results: Sequence[Result]) -> list[Item]:
    """The item analysis: for each task of each lesson the kinds of mistakes, the most frequent first."""
    found = []
    for lesson in sorted({r.submission.lesson for r in results}):
        of_lesson = [r for r in results if r.submission.lesson == lesson]
        for task in sheets.assignment(lesson).tasks:
            said = [r.feedback[task.name] for r in of_lesson if task.name in r.feedback]
            kinds = Counter(kind for feedback in said for kind in feedback.kinds)
            answered = sum("not-answered" not in feedback.kinds for feedback in said)
            found.append(Item(lesson, task.name, answered, sum(f.passed for f in said), len(of_lesson),
                              tuple(kinds.most_common())))
    return found


def write_items(found: Iterable[Item], path: Path) -> None:
    """One row for each task and kind of mistake; a task without mistakes has one row."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["lesson", "task", "students", "answered", "passed", "kind", "count"])
        for item in found:
            for kind, count in item.kinds or (("", 0),):
                writer.writerow([item.lesson, item.task, item.students, item.answered, item.passed, harmless(kind),
                                 count])


def class_page(results: Sequence[Result], found: Sequence[Item]) -> str:
    """The page for the instructor: scores, then the tasks and what went wrong in them."""
    scores = html_table(("student", "lesson", "score", "of", "seconds", "note"),
                        [(r.submission.student, r.submission.lesson, r.score, r.most, f"{r.seconds:.1f}", r.said)
                         for r in results])
    rows = [(i.lesson, i.task, f"{i.passed} of {i.students}", i.answered, ", ".join(f"{k} ({n})" for k, n in i.kinds))
            for i in found]
    analysis = html_table(("lesson", "task", "right", "answered", "mistakes"), rows)
    return page("The class", f"<h2>Scores</h2>{scores}<h2>Tasks</h2>{analysis}")


# --- a student

def student_page(result: Result) -> str:
    """The page for one student and lesson: each task with its points, and what was found in which lines."""
    assignment = sheets.assignment(result.submission.lesson)
    parts = [f"<p>{escape(result.submission.student)}: {result.score} of {result.most} points for the tasks that are "
             "scored by the computer.</p>"]
    if result.said:
        parts.append(f"<p>{escape(result.said)}</p>")
    parts += [task_part(result, task) for task in assignment.tasks]
    parts += [f"<h2>{escape(name)}</h2><p>Marked by hand.</p><pre>{escape(text)}</pre>"
              for name, text in result.essays.items()]
    return page(f"Exercises {assignment.lesson}: {assignment.title}", "\n".join(parts))


def task_part(result: Result, task) -> str:
    """One task: points, feedback, and the student's kernel with the lines in question marked."""
    feedback = result.feedback.get(task.name)
    said = feedback.report() if feedback else "not scored"
    listing = ""
    if feedback and not feedback.passed and isinstance(task, Kernel) and feedback.lines:
        listing = f"<details><summary>your text</summary>{marked(result.sources[task.name], feedback.lines)}</details>"
    return f"<h2>{escape(task.name)}: {earned(result, task)} of {task.points}</h2><pre>{escape(said)}</pre>{listing}"


def marked(source: str, lines: Sequence[int]) -> str:
    """A cell's text with its CUDA lines marked; the first line of the text in quotes is the cell's first line."""
    rows = [f"{n:4d} | {escape(line)}" for n, line in enumerate(source.split("\n"), 1)]
    return "<pre>" + "\n".join(f"<mark>{row}</mark>" if n in lines else row for n, row in enumerate(rows, 1)) + "</pre>"


def page(title: str, body: str) -> str:
    return PAGE.format(title=escape(title), body=body)
