"""What a notebook of exercises talks to: `sheet = gl.Sheet("02", TX=32, …)`, then `sheet.check("words", words)`."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from html import escape

from gemm_lab.exercises import sheets
from gemm_lab.exercises.answers import read_answer
from gemm_lab.exercises.assignment import PUBLIC
from gemm_lab.exercises.feedback import Feedback, NotPassed
from gemm_lab.tables import html_table


class Sheet:
    """The exercises of one lesson, with this sheet's numbers.

    lesson   "00" to "06"
    form     the letters that came with the notebook, if any did
    numbers  the sheet's numbers, as they came with the notebook
    """

    def __init__(self, lesson: str, form: str = "", **numbers):
        self.assignment = sheets.assignment(lesson)
        self.shown = numbers or dict(self.assignment.shown)
        self.numbers = self.assignment.numbers(self.shown, form)

    def check(self, task: str, answer) -> Feedback:
        """Judge an answer; what is displayed says what is wrong and what helps. Never raises for an answer."""
        feedback = self.assignment[task].check(answer, self.numbers)
        fault = unreadable_cell(task) if feedback.passed else ""
        return replace(feedback, message=f"But the grader cannot read the cell: {fault}.") if fault else feedback

    def grade(self, task: str, answer) -> None:
        """As `check`, on hidden sizes, too; raises NotPassed where the answer is not right. For hidden tests.

        The seed of the hidden sizes is in the variable GEMM_LAB_SEED of the grader's environment, and in no notebook.
        """
        feedback = self.assignment[task].check(answer, self.numbers, os.environ.get("GEMM_LAB_SEED", PUBLIC))
        if not feedback.passed:
            raise NotPassed(feedback.report())

    def show(self, task: str) -> Text:
        """The given text of a task, with line numbers if it is CUDA."""
        return Text(self.assignment[task].given(self.numbers))

    def __repr__(self) -> str:
        names = ", ".join(f"{name} = {value}" for name, value in self.shown.items())
        tasks = self.assignment.tasks
        points = sum(task.points for task in tasks)
        return f"Exercise {self.assignment.lesson}: {len(tasks)} tasks checked here, {points} points; {names}"

    def _repr_html_(self) -> str:
        rows = [(name, value, self.assignment.meaning.get(name, "")) for name, value in self.shown.items()]
        return html_table(("name", "this sheet", ""), rows, repr(self).partition(";")[0])


def unreadable_cell(name: str) -> str:
    """Why the grader could not read the last cell of this session that set `name`; empty if it can."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    cells = shell.user_ns.get("In", []) if shell else []
    source = next((text for text in reversed(cells) if re.search(rf"^{name}\s*(:.*)?=(?!=)", text, re.MULTILINE)), "")
    try:
        read_answer(source, name)
    except ValueError as error:
        return str(error)
    return ""


class Text:
    """A text with its line numbers, if it is code; shown as it is."""

    def __init__(self, text: str):
        lines = text.split("\n")
        numbered = "__global__" in text
        self.text = "\n".join(f"{n:3d} | {line}" for n, line in enumerate(lines, 1)) if numbered else text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<pre style="word-break: normal">{escape(self.text)}</pre>'
