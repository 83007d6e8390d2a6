"""The commands `gemm-lab release` and `gemm-lab grade`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gemm_lab.exercises import release, sheets
from gemm_lab.exercises.assignment import PUBLIC
from gemm_lab.grading import reports, sandbox
from gemm_lab.grading.limits import Limits
from gemm_lab.grading.pool import Result, score_all
from gemm_lab.grading.submissions import find


def add_release(commands) -> None:
    sub = commands.add_parser(
        "release", help="write the students' version of the exercises",
        description="Takes the solutions and hidden tests out of the instructor's notebooks. With --seed the sheets "
                    "get "
                    "other numbers, tiles and planted bugs, so that published answers are wrong for them.")
    sub.add_argument("source", type=Path, nargs="*", help=f"instructor's notebooks (default: all of {release.SOURCES})")
    sub.add_argument("--out", type=Path, help=f"folder to write to (default: {release.RELEASED}; needed with --seed)")
    sub.add_argument("--seed", help="any text that students do not know; keep it, grading needs it")
    sub.add_argument("--nbgrader", type=Path, metavar="COURSE",
                     help="write sources for nbgrader into COURSE/source, and an nbgrader_config.py if there is none")
    sub.set_defaults(run=release_command)


def release_command(options) -> int:
    sources = options.source or sorted(release.SOURCES.glob("[0-9]*.ipynb"))
    if not sources:
        raise ValueError(f"there is no notebook in {release.SOURCES}: run this in a copy of the repository, or name "
                         f"notebooks")
    if options.seed is not None and not (options.out or options.nbgrader):
        raise ValueError("a release with --seed needs --out FOLDER or --nbgrader COURSE: it is not the public one")
    for source in sources:
        print(release_one(source, options))
    if options.nbgrader:
        release.write_config(options.nbgrader, options.seed or PUBLIC)
    return 0


def release_one(source: Path, options) -> Path:
    """Release one notebook where the options say, and return the path that was written."""
    if options.nbgrader:
        return release.write_release(source, options.nbgrader / "source" / release.lesson_of(source), options.seed,
                                     True)
    return release.write_release(source, options.out or release.RELEASED, options.seed)


def add_grade(commands) -> None:
    sub = commands.add_parser(
        "grade", help="score a folder of submissions and write a report for each student",
        description="Scores FOLDER/STUDENT/…/02_….ipynb. Notebooks are read, not executed: answers are taken out as "
                    "text, CUDA is compiled and emulated. Python functions are run in bubblewrap.")
    sub.add_argument("folder", type=Path)
    sub.add_argument("--out", type=Path, required=True, help="folder for scores.csv, items.csv, class.html and "
                                                             "students/")
    sub.add_argument("--seed", help="the seed of the release; none for the public version")
    sub.add_argument("--lesson", action="append", choices=sheets.LESSONS, help="grade these lessons only (repeatable)")
    sub.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="submissions at a time (default: all "
                                                                           "processors)")
    sub.add_argument("--task-seconds", type=int, default=Limits.task_seconds, help="processor time for a task "
                                                                                   "(default: %(default)s)")
    sub.add_argument("--total-seconds", type=int, default=Limits.total_seconds, help="processor time for a submission; "
                                                                                     "each of its tasks is sure of an "
                                                                                     "equal part (default: "
                                                                                     "%(default)s)")
    sub.add_argument("--memory-gb", type=float, default=Limits.memory_gb, help="for a submission (default: "
                                                                               "%(default)s)")
    sub.set_defaults(run=grade_command)


def grade_command(options) -> int:
    if min(options.jobs, options.task_seconds, options.total_seconds) < 1 or not 1 <= options.memory_gb <= 1024:
        raise ValueError("--jobs, --task-seconds and --total-seconds are whole numbers, 1 or more; --memory-gb is 1 to "
                         "1024")
    submissions, remarks = find(options.folder, tuple(options.lesson or sheets.LESSONS))
    for remark in remarks:
        print(remark, file=sys.stderr)
    if not submissions:
        names = " or ".join(f"FOLDER/STUDENT/{lesson}_….ipynb" for lesson in options.lesson or ["02"])
        raise ValueError(f"{options.folder} holds no submission: {names}")
    if sandbox.program() is None:
        print("bubblewrap is not installed: Python functions are not scored (Debian: sudo apt-get install bubblewrap)",
              file=sys.stderr)
    try:
        options.out.mkdir(parents=True, exist_ok=True)    # before minutes of work
    except OSError as error:
        raise ValueError(f"{options.out} cannot be written to: {error.strerror}") from None
    limits = Limits(options.task_seconds, options.memory_gb, options.total_seconds)
    results = score_all(submissions, options.seed, options.jobs, limits, tell)
    reports.write_all(results, options.out)
    print(f"{len(results)} submission{'s' if len(results) > 1 else ''}: {options.out / 'scores.csv'}, "
          f"{options.out / 'class.html'}")
    return 0


def tell(result: Result) -> None:
    """One line for a graded submission."""
    it = result.submission
    points = f"{result.score:2d} of {result.most}"
    print(f"{result.seconds:5.1f} s  {it.lesson}  {points}  {it.student}  {result.said}".rstrip(), flush=True)
