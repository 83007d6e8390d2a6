"""Tasks: what is asked, how an answer is judged, and which misconceptions are known by name.

A task knows nothing of notebooks. `check(answer, numbers)` takes an answer as it comes, from a student's kernel or
from the reader of cells, and the sheet's numbers (`Numbers`), and never raises for an answer. The kinds of tasks are in
formula_tasks.py, choice_tasks.py, function_tasks.py and kernel_tasks.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace

from gemm_lab.exercises.expressions import Unreadable
from gemm_lab.exercises.feedback import Feedback, wrong

Numbers = SimpleNamespace       # the numbers and words of a sheet, by name


@dataclass(frozen=True)
class Mistake:
    """A misconception: its name in the statistics, the wrong answer it leads to, and what helps.

    `answer` is a number, a text, or a function of the sheet's numbers that gives one.
    """

    kind: str
    answer: object
    message: str

    def of(self, numbers: Numbers):
        """The wrong answer for a sheet's numbers."""
        return self.answer(numbers) if callable(self.answer) else self.answer


@dataclass(frozen=True, kw_only=True)
class Task:
    """What all tasks have.

    name      of the task, of its cell and of the student's variable
    points    for a right answer
    asked     what kind of answer is wanted, in a few words; the student's cell says it beside the empty answer
    solution  a function of the sheet's numbers: the model answer, as Python text
    mistakes  wrong answers with a message of their own
    hint      the message for any other wrong answer
    """

    name: str
    points: int
    solution: Callable[[Numbers], str] = field(repr=False)
    asked: str = "an answer"
    mistakes: tuple[Mistake, ...] = field(default=(), repr=False)
    hint: str = ""

    def check(self, answer, numbers: Numbers, seed: str | None = None) -> Feedback:
        """Judge an answer; with a `seed` also on hidden sizes, which the message does not name."""
        if answer is None or type(answer) is str and not answer.strip():
            return wrong(self.name, "not-answered", f"Asked for: {self.asked}.")
        try:
            return self.judge(answer, numbers, seed)
        except Unreadable as error:
            return wrong(self.name, "unreadable", f"{str(error)[:1].upper()}{str(error)[1:]}.")

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        """As `check`, for an answer that is there; may raise Unreadable."""
        raise NotImplementedError

    def not_yet(self) -> Feedback:
        """The feedback for a wrong answer that nobody foresaw."""
        return wrong(self.name, "wrong", self.hint)

    def given(self, numbers: Numbers) -> str:
        """CUDA that the student reads and does not change; empty where there is none."""
        return ""


def hidden_sizes(task: str, seed: str | None, deepest: int = 70) -> tuple[tuple[int, int, int], ...]:
    """Two sizes (M, N, K) that only somebody who has the seed knows, K at most `deepest`; none without a seed."""
    if seed is None:
        return ()
    random = Random(f"{task}/{seed}")
    return tuple(tuple(random.randint(2, most) for most in (70, 70, deepest)) for _ in range(2))


def each_wrong(task: Task, numbers: Numbers) -> Iterator[tuple[Mistake, object]]:
    """The known mistakes of a task with their wrong answers for these numbers."""
    for mistake in task.mistakes:
        answer = mistake.of(numbers)
        if answer is not None:
            yield mistake, answer
