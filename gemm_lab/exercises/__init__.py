"""Exercises that check themselves: tasks (tasks.py and its neighbours), assignments (sheets/), and their release.

A student's notebook uses `Sheet` alone. The model answers are no secret: whoever sets an assignment for marks releases
it with a seed of their own, which draws other numbers, tiles and planted bugs.
"""

from gemm_lab.exercises.sheet import Sheet

__all__ = ["Sheet"]
