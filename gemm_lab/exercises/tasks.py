"""Tasks: what is asked, how an answer is judged, and which misconceptions are known by name.

A task knows nothing of notebooks. `check(answer, numbers)` takes an answer as it comes, from a student's kernel or from
the reader of cells, and the sheet's numbers (`Numbers`), and never raises for an answer. Paper tasks are here; tasks
whose answer is a CUDA kernel are in kernel_tasks.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from types import SimpleNamespace

from gemm_lab.exercises import expressions
from gemm_lab.exercises.expressions import Unreadable
from gemm_lab.exercises.feedback import Feedback, right, wrong

Numbers = SimpleNamespace       # the numbers and words of a sheet, by name
EXACT = 1e-9                    # relative: what float arithmetic may lose in a formula


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


# --- numbers

@dataclass(frozen=True, kw_only=True)
class Number(Task):
    """A number, or arithmetic that makes it; the sheet's numbers may be used by name.

    truth      a function of the sheet's numbers
    units      factor -> the unit in which an answer is that many times the truth
    tolerance  relative
    """

    truth: Callable[[Numbers], float] = field(repr=False)
    units: Mapping[float, str] = field(default_factory=dict, repr=False)
    tolerance: float = 1e-3

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        got, truth = self._number(answer, numbers), self.truth(numbers)
        if self._close(got, truth):
            return right(self.name)
        for mistake in self.mistakes:
            if self._is(got, mistake.of(numbers)):
                return wrong(self.name, mistake.kind, mistake.message)
        for factor, unit in self.units.items():
            if self._close(got, factor * truth):
                return wrong(self.name, "wrong-units", f"The reasoning fits, the unit does not: this is {unit}.")
        return self.not_yet()

    def _number(self, answer, numbers: Numbers) -> float:
        if isinstance(answer, str):
            names = {name: value for name, value in vars(numbers).items() if isinstance(value, Real)}
            return float(expressions.evaluate(answer, names))
        if isinstance(answer, bool) or not isinstance(answer, Real):
            raise Unreadable(f"this is a {type(answer).__name__}; asked for is {self.asked}")
        return float(answer)

    def _is(self, got: float, other: float | None) -> bool:
        return other is not None and self._close(got, other)

    def _close(self, a: float, b: float) -> bool:
        return math.isclose(a, b, rel_tol=self.tolerance)


# --- formulas

RAGGED = ((35, 79, 19), (130, 67, 45), (1, 5, 300), (70, 1, 7), (33, 200, 64), (1000, 24, 37))
EVEN = ((64, 128, 192), (256, 512, 64), (960, 1920, 3840))      # multiples of every tile that is used
SQUARE = ((64, 64, 64), (960, 960, 960))


@dataclass(frozen=True, kw_only=True)
class Formula(Task):
    """A formula in quotes, in M, N and K and the sheet's numbers. It is compared at sizes that nothing divides.

    variables  the names in which it is a formula, at most three
    truth      a function of the sheet's numbers and of three sizes, for the variables in their order
    units      as for Number
    whole      what it means that a formula holds only where the tiles divide the sizes
    """

    truth: Callable[..., float] = field(repr=False)
    units: Mapping[float, str] = field(default_factory=dict, repr=False)
    variables: tuple[str, ...] = ("M", "N", "K")
    whole: str = "It holds where the tiles divide the sizes. At other sizes the last tile is not full: round up."

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        if isinstance(answer, Real) and not isinstance(answer, bool):
            return self._no_formula()
        if not isinstance(answer, str):
            raise Unreadable(f"this is a {type(answer).__name__}; asked for is {self.asked}")
        sizes = RAGGED + hidden_sizes(self.name, seed)
        values = self._values(answer, numbers, RAGGED + EVEN + SQUARE)      # the names must be known at all
        if not set(self.variables) & expressions.names_in(answer):
            return self._no_formula()
        if self._same(answer, sizes, numbers):
            return right(self.name)
        return self._diagnosis(answer, numbers, values[0])

    def _no_formula(self) -> Feedback:
        return wrong(self.name, "no-formula", "A number holds for one size. Write a formula in "
                     f"{', '.join(self.variables)}, in quotes.")

    def _diagnosis(self, answer: str, numbers: Numbers, example: float) -> Feedback:
        for mistake in self.mistakes:
            if self._equal(answer, mistake.of(numbers), numbers):
                return wrong(self.name, mistake.kind, mistake.message)
        for factor, unit in self.units.items():
            if self._same(answer, RAGGED, numbers, factor):
                return wrong(self.name, "wrong-units", f"The formula is right, its unit is not: it gives {unit}.")
        if self._same(answer, EVEN, numbers):
            return wrong(self.name, "no-rounding-up", self.whole)
        if self._same(answer, SQUARE, numbers):
            return wrong(self.name, "square-only", "It holds for square matrices only: go through the sizes again, "
                         "matrix by matrix.")
        at = ", ".join(f"{name}={value}" for name, value in self._names(RAGGED[0]).items())
        return wrong(self.name, "wrong", f"At {at} it gives {example:,.10g}. {self.hint}")

    def _values(self, text: str, numbers: Numbers, sizes) -> list[float]:
        node, fixed = expressions.parse(text), vars(numbers)
        known = {name: value for name, value in fixed.items() if isinstance(value, Real)}
        return [float(expressions.value_of(node, known | self._names(size))) for size in sizes]

    def _names(self, size: tuple[int, int, int]) -> dict[str, int]:
        return dict(zip(self.variables, size))

    def _same(self, text: str, sizes, numbers: Numbers, factor: float = 1) -> bool:
        want = [factor * self.truth(numbers, *size) for size in sizes]
        return _all_close(self._values(text, numbers, sizes), want)

    def _equal(self, text: str, other: str | None, numbers: Numbers) -> bool:
        return other is not None and _all_close(*(self._values(t, numbers, RAGGED) for t in (text, other)))


def _all_close(got: Sequence[float], want: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=EXACT) for a, b in zip(got, want, strict=True))


def hidden_sizes(task: str, seed: str | None, count: int = 2, largest: int = 70) -> tuple[tuple[int, int, int], ...]:
    """(M, N, K) that only somebody who has the seed knows; none without a seed."""
    if seed is None:
        return ()
    from random import Random
    random = Random(f"{task}/{seed}")
    return tuple(tuple(random.randint(2, largest) for _ in range(3)) for _ in range(count))


@dataclass(frozen=True, kw_only=True)
class Grid(Task):
    """The number of blocks along x and y: two formulas in M and N.

    truth  a function of the sheet's numbers, M and N: (x, y)
    """

    truth: Callable[[Numbers, int, int], tuple[int, int]] = field(repr=False)

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        pair = list(answer) if isinstance(answer, list | tuple) else []
        if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise Unreadable("two formulas in quotes are wanted, for x and y: (\"…\", \"…\")")
        sizes = [(M, N) for M, N, _ in RAGGED + EVEN + hidden_sizes(self.name, seed)]
        got = [tuple(self._value(part, M, N, numbers) for part in pair) for M, N in sizes]
        want = [self.truth(numbers, M, N) for M, N in sizes]
        if got == want:
            return right(self.name)
        return self._diagnosis(got, want, sizes)

    def _value(self, text: str, M: int, N: int, numbers: Numbers) -> float:
        names = {name: value for name, value in vars(numbers).items() if isinstance(value, Real)}
        return expressions.evaluate(text, names | {"M": M, "N": N})

    def _diagnosis(self, got, want, sizes) -> Feedback:
        if any(part != int(part) for pair in got for part in pair):
            return wrong(self.name, "no-whole-number", "A number of blocks is a whole number: / gives a fraction.")
        few = next((n for n, (g, w) in enumerate(zip(got, want)) if g[0] < w[0] or g[1] < w[1]), None)
        if few is not None and got == [pair[::-1] for pair in want]:
            return wrong(self.name, "swapped", "x and y are exchanged: blockIdx.x walks along a row of C.")
        M, N = sizes[few if few is not None else next(n for n, g in enumerate(got) if g != want[n])]
        if few is not None:
            return wrong(self.name, "too-few-blocks", f"At M={M}, N={N} some elements of C belong to no block.")
        return wrong(self.name, "too-many-blocks", f"At M={M}, N={N} some blocks have nothing to do. That is not "
                                                   f"wrong, "
                     "and it is not needed: round up, and no further.")


# --- words, lines, orders

@dataclass(frozen=True, kw_only=True)
class Choice(Task):
    """One of a few words.

    options  word -> the message for somebody who chose it wrongly
    """

    options: Mapping[str, str] = field(repr=False)
    truth: Callable[[Numbers], str] = field(repr=False)

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        known = {option.lower(): option for option in self.options}
        if not isinstance(answer, str) or answer.strip().lower() not in known:
            raise Unreadable(f"choose one of {', '.join(map(repr, self.options))}")
        chosen = known[answer.strip().lower()]
        if chosen == self.truth(numbers):
            return right(self.name)
        return wrong(self.name, f"chose {chosen}", self.options[chosen])


@dataclass(frozen=True, kw_only=True)
class Statements(Task):
    """The letters of all statements that are true.

    statements  a function of the sheet's numbers: (text, true or not, the message for whoever has it wrong), in order
    """

    statements: Callable[[Numbers], Sequence[tuple[str, bool, str]]] = field(repr=False)

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        known = {chr(ord("a") + n): s for n, s in enumerate(self.statements(numbers))}
        chosen = _letters(answer)
        if not chosen <= set(known):
            raise Unreadable(f"the letters {', '.join(known)} can be chosen, in quotes: \"ac\"")
        missed = [letter for letter, (_, true, _) in known.items() if true != (letter in chosen)]
        if not missed:
            return right(self.name)
        # One hint at a time, and of a wrongly chosen one first: a left-out one would be an answer given away.
        letter = next((one for one in missed if one in chosen), None)
        if letter is None:
            return wrong(self.name, "too-few", f"What is chosen is right, and {len(missed)} more "
                         f"{'is' if len(missed) == 1 else 'are'} true.")
        return wrong(self.name, f"believes: {known[letter][0]}", f"One of the chosen is false. {known[letter][2]}")

    def given(self, numbers: Numbers) -> str:
        return "\n".join(f"{chr(ord('a') + n)}  {text}" for n, (text, _, _) in enumerate(self.statements(numbers)))


def _letters(answer) -> set[str]:
    parts = answer if isinstance(answer, list | tuple | set | frozenset) else [answer]
    if not all(isinstance(part, str) for part in parts):
        raise Unreadable("letters in quotes are wanted: \"ac\"")
    return {letter for part in parts for letter in part.lower() if letter.isalpha()}


@dataclass(frozen=True, kw_only=True)
class Lines(Task):
    """The numbers of lines in a given CUDA text.

    text     a function of the sheet's numbers: the CUDA text
    truth    a function of the sheet's numbers: pieces of text, each in one of the lines that are asked for
    notes    (piece of text, kind, message) for wrong lines, the first that applies
    """

    text: Callable[[Numbers], str] = field(repr=False)
    truth: Callable[[Numbers], Sequence[str]] = field(repr=False)
    notes: Callable[[Numbers], Sequence[tuple[str, str, str]]] = field(repr=False)

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        lines, want = self.text(numbers).split("\n"), self.wanted(numbers)
        chosen = _line_numbers(answer, len(lines))
        if chosen == want:
            return right(self.name)
        for number in sorted(chosen - want):
            for piece, kind, message in self.notes(numbers):
                if piece in lines[number - 1]:
                    return wrong(self.name, kind, f"Line {number}: {message}", (number,))
        if chosen < want:
            return wrong(self.name, "too-few", f"{len(chosen)} of the lines, and not all of them.")
        return self.not_yet()

    def wanted(self, numbers: Numbers) -> set[int]:
        """The numbers of the lines that are right."""
        lines = self.text(numbers).split("\n")
        return {n for piece in self.truth(numbers) for n, line in enumerate(lines, 1) if piece in line}

    def given(self, numbers: Numbers) -> str:
        return self.text(numbers)


def _line_numbers(answer, most: int) -> set[int]:
    parts = list(answer) if isinstance(answer, list | tuple | set | frozenset) else [answer]
    if not parts or not all(isinstance(n, int) and not isinstance(n, bool) and 1 <= n <= most for n in parts):
        raise Unreadable(f"numbers of lines are wanted, from 1 to {most}")
    return set(parts)


def each_wrong(task: Task, numbers: Numbers) -> Iterator[tuple[Mistake, object]]:
    """The known mistakes of a task with their wrong answers for these numbers."""
    for mistake in task.mistakes:
        answer = mistake.of(numbers)
        if answer is not None:
            yield mistake, answer
