"""Tasks on paper: a number, a formula, the formulas of a grid. What is written is parsed (expressions.py), not run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

from gemm_lab.exercises import expressions
from gemm_lab.exercises.expressions import Unreadable
from gemm_lab.exercises.feedback import Feedback, right, wrong
from gemm_lab.exercises.tasks import Numbers, Task, hidden_sizes

EXACT = 1e-9    # relative: what float arithmetic may lose in a formula


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
            return self._float(expressions.evaluate(answer, names))
        if isinstance(answer, bool) or not isinstance(answer, Real):
            raise Unreadable(f"this is a {type(answer).__name__}; asked for is {self.asked}")
        return self._float(answer)

    @staticmethod
    def _float(value) -> float:
        try:
            return float(value)
        except OverflowError:
            raise Unreadable("this number is too large") from None

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
