"""The assignments, one module for each lesson."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from gemm_lab.exercises.assignment import Assignment

LESSONS = ("00", "01", "02", "03", "04", "05", "06")
CUDA = Path(__file__).parents[1] / "cuda"


@cache
def assignment(lesson: str) -> Assignment:
    """The assignment of a lesson; ValueError with the lessons that have one."""
    if lesson not in LESSONS:
        raise ValueError(f"there is no exercise {lesson!r}; there are {', '.join(LESSONS)}")
    return import_module(f"gemm_lab.exercises.sheets.sheet{lesson}").ASSIGNMENT


@cache
def cuda(name: str) -> str:
    """The text of a file of exercises/cuda, without the last line break."""
    return (CUDA / name).read_text(encoding="utf-8").rstrip("\n")


def renamed(text: str, names: dict[str, str]) -> str:
    """CUDA with words replaced: another version of a kernel, of which a copied answer is no small repair."""
    import re
    return re.sub("|".join(rf"\b{word}\b" for word in names), lambda match: names[match[0]], text) if names else text
