"""Submissions in a folder: FOLDER/STUDENT/…/02_shared_tiling.ipynb, as nbgrader collects them and as others do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gemm_lab.exercises import sheets


@dataclass(frozen=True, order=True)
class Submission:
    """One student's notebook for one lesson."""

    student: str
    lesson: str
    path: Path


def find(folder: Path, lessons: tuple[str, ...] = sheets.LESSONS) -> tuple[list[Submission], list[str]]:
    """The submissions below a folder, in order, and a remark for each file that is none.

    A student is a folder in `folder`. Links are not followed: they could lead to somebody else's work.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder")
    found, remarks = {}, []
    for path in sorted(notebooks(folder)):
        inside, lesson = path.relative_to(folder), path.name[:2]
        student, name = readable(inside.parts[0]), readable(inside)
        if path.parent == folder:
            remarks.append(f"{name}: left out; a submission lies in a folder that has the student's name")
        elif path.is_symlink() or lesson not in sheets.LESSONS:
            remarks.append(f"{name}: left out; " + ("it is a link" if path.is_symlink() else
                           f"its name does not begin with {', '.join(sheets.LESSONS)}"))
        elif (student, lesson) in found:
            remarks.append(f"{name}: left out; {student} has another notebook for lesson {lesson}")
        elif lesson in lessons:
            found[student, lesson] = Submission(student, lesson, path)
    return sorted(found.values()), remarks


def readable(name: str | Path) -> str:
    """A file's name as text that can be written: bytes that are no UTF-8 become \\xfc and the like."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def notebooks(folder: Path) -> Iterator[Path]:
    """All notebook files below a folder, without following links to folders."""
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(parent) / name for name in files if name.endswith(".ipynb"))
