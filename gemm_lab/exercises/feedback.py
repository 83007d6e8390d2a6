"""What a check says to the student: right or not, of which kind the mistake is, and a sentence that helps.

A message never holds the answer. `kinds` are for the instructor's statistics: the findings of `gl.check`, or the name
of a misconception.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


class NotPassed(AssertionError):
    """Raised by a hidden test; the message is the feedback. JupyterLab shows it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class Feedback:
    """The result of checking one task."""

    task: str
    passed: bool
    message: str
    kinds: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()     # of the student's text that the message speaks of

    def report(self) -> str:
        """The message with its task and verdict before it."""
        verdict = "right" if self.passed else "not answered" if "not-answered" in self.kinds else "not yet"
        return f"{self.task}: {verdict}. {self.message}".rstrip()

    def __repr__(self) -> str:
        return self.report()

    def _repr_html_(self) -> str:
        return f'<pre style="white-space: pre-wrap; word-break: normal">{escape(self.report())}</pre>'


def right(task: str, message: str = "") -> Feedback:
    """The feedback for a right answer."""
    return Feedback(task, True, message)


def wrong(task: str, kind: str, message: str, lines: tuple[int, ...] = ()) -> Feedback:
    """The feedback for a wrong answer of one kind."""
    return Feedback(task, False, message, (kind,), lines)
