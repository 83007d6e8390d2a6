"""Tasks whose answer is a small Python function. In a notebook it is called; the grader calls it in a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real

from gemm_lab.exercises.expressions import Unreadable
from gemm_lab.exercises.feedback import Feedback, right, wrong
from gemm_lab.exercises.tasks import Numbers, Task

MOST_CHARACTERS = 200       # of a result that a message shows


@dataclass(frozen=True)
class Outputs:
    """What a student's function returned, input by input, or why it did not."""

    values: tuple = ()
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class Function(Task):
    """A function of one whole number.

    inputs    the numbers that are tried; hidden ones with a seed
    truth     a function of the sheet's numbers and one input
    mistakes  their answers are functions of the sheet's numbers and one input
    """

    truth: Callable[[Numbers, int], Real] = field(repr=False)
    inputs: Sequence[int] = ()
    hidden: Sequence[int] = ()

    def all_inputs(self, seed: str | None) -> list[int]:
        """What the function is called with; the hidden inputs only with a seed."""
        return [*self.inputs, *(self.hidden if seed is not None else ())]

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        if not isinstance(answer, Outputs):
            if not callable(answer):
                raise Unreadable(f"this is a {type(answer).__name__}; asked for is {self.asked}")
            answer = call(answer, self.all_inputs(seed))
        if answer.fault:
            kind = "not-answered" if "NotImplementedError" in answer.fault else "function-failed"
            return wrong(self.name, kind, f"The function did not return: {answer.fault}")
        return self._compared(answer.values, self.all_inputs(seed), numbers)

    def _compared(self, got: Sequence, inputs: Sequence[int], numbers: Numbers) -> Feedback:
        want = [self.truth(numbers, n) for n in inputs]
        if _same(got, want):
            return right(self.name)
        shown = len(self.inputs)
        for mistake in self.mistakes:
            if _same(got[:shown], [mistake.answer(numbers, n) for n in self.inputs]):
                return wrong(self.name, mistake.kind, mistake.message)
        if _same(got[:shown], want[:shown]):
            return wrong(self.name, "hard-coded", "It is right for the numbers that the exercise shows and wrong for "
                                                  "others.")
        n = next(n for n in range(shown) if not _same(got[n:n + 1], want[n:n + 1]))
        return wrong(self.name, "wrong", f"For {inputs[n]} it returns {str(got[n])[:MOST_CHARACTERS]}. {self.hint}")


def _same(got: Sequence, want: Sequence) -> bool:
    return len(got) == len(want) and all(
        isinstance(a, Real) and not isinstance(a, bool) and a == b for a, b in zip(got, want, strict=True))


def call(function: Callable, inputs: Sequence[int]) -> Outputs:
    """The function's results as plain numbers where they are numbers."""
    values = []
    for n in inputs:
        try:
            values.append(plain(function(n)))
        except Exception as error:
            return Outputs(fault=f"{type(error).__name__}: {error}, for {n}")
    return Outputs(tuple(values))


def plain(value):
    """NumPy's numbers as Python's; anything else as it is."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "size", 0) == 1 else value
