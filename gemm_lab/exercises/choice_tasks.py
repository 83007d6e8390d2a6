"""Tasks of reading: choose a word, the statements that are true, the lines that are meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gemm_lab.exercises.expressions import Unreadable
from gemm_lab.exercises.feedback import Feedback, right, wrong
from gemm_lab.exercises.tasks import Numbers, Task


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
