"""The released exercises in JupyterLab, worked as a student works them: read, type, run, look, try again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gemm_lab.exercises import sheets
from tools.build_exercises import RELEASED

IDS = "() => [...window.jupyterapp.shell.currentWidget.content.model.cells].map(cell => cell.id)"
RAN = "([prompt, before]) => prompt.innerText !== before && !prompt.innerText.includes('*')"
SOURCE = """n => [...window.jupyterapp.shell.currentWidget.content.model.cells][n].sharedModel.getSource()"""


class Student:
    """Types into a notebook and reads what it says."""

    def __init__(self, lesson):
        self.page, self.ids = lesson.page, lesson.page.evaluate(IDS)

    def cell(self, name: str):
        return self.page.locator(".jp-Notebook .jp-Cell").nth(self.ids.index(name))

    def type(self, name: str, text: str) -> None:
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def answer(self, name: str, text: str) -> str:
        """Write an answer, run it and the check below it, and return what the check says."""
        self.type(name, text)
        self.page.keyboard.press("Shift+Enter")
        check = self.cell(f"check-{name}")
        before = check.locator(".jp-InputPrompt").inner_text()
        self.page.keyboard.press("Shift+Enter")
        prompt = check.locator(".jp-InputPrompt").element_handle()
        self.page.wait_for_function(RAN, arg=[prompt, before], timeout=60_000)
        return check.locator(".jp-OutputArea-output").inner_text()

    def source(self, name: str) -> str:
        return self.page.evaluate(SOURCE, self.ids.index(name))


@pytest.mark.parametrize("name", [path.name for path in sorted(RELEASED.glob("0[24]*.ipynb"))])
def test_an_untouched_exercise_runs_and_asks_for_every_answer(jupyterlab, name, tmp_path):
    with jupyterlab.lesson(f"exercises/{name}") as lesson:
        lesson.run_all()
        assert lesson.failed() == [] and lesson.broken_widgets() == []
        shown = lesson.page.locator(".jp-OutputArea-output").all_inner_texts()
        tasks = sheets.assignment(name[:2]).tasks
        assert sum(": not answered." in text for text in shown) == len(tasks)
        lesson.screenshots(Path(os.environ.get("GEMM_LAB_PICTURES", tmp_path)), f"exercises-{Path(name).stem}")
        assert lesson.complaints == [] and lesson.outside == []


def test_a_student_errs_repairs_and_cannot_change_a_check(jupyterlab):
    with jupyterlab.lesson("exercises/01_naive.ipynb") as lesson:
        lesson.run_all()
        student = Student(lesson)
        assert "That is one thread" in student.answer("words", 'words = "2*K"')
        assert student.answer("words", 'words = "2*M*N*K + M*N"') == "words: right."
        assert "That is the load of A." in student.answer("w", "w = 16")
        assert student.answer("w", "rows = 16\nw = rows + 1") == "w: right."
        assert "cannot read the cell" in student.answer("w", "w = sum([16, 1])")
        given = student.source("guard")
        said = student.answer("guard", given.replace("row * col >= M * N", "row >= M && col >= N"))
        assert "out-of-bounds: line" in said and "acc +=" in said
        assert student.answer("guard", given.replace("row * col >= M * N", "row >= M || col >= N")) == "guard: right."
        check = student.source("check-words")
        student.type("check-words", "1 + 1")
        assert student.source("check-words") == check
        assert lesson.failed() == []


def test_a_student_writes_an_outer_product(jupyterlab):
    assignment = sheets.assignment("04")
    answer = f'outer = """\n{assignment["outer"].text(assignment.drawn(None))}\n"""'
    with jupyterlab.lesson("exercises/04_register_tiling_2d.ipynb") as lesson:
        lesson.run_all()
        student = Student(lesson)
        assert "1 of 4, 1 line" in student.answer("outer", student.source("outer"))
        said = student.answer("outer", answer.replace("WIDTH = BM + 4", "WIDTH = BM"))
        assert "over-budget" in said and "bank conflicts in a store" in said
        assert student.answer("outer", answer) == "outer: right."
        assert "into one row" in student.answer("banks", "banks = {12, 16}")
        assert student.answer("change", 'change = "bank conflicts"') == "change: right."
        assert lesson.failed() == []


@pytest.mark.parametrize("name, task, change, says", [
    ("05_warp_tiling_and_pipelining", "deal", ("lane / 2 % 4 * 4", "lane % 4 * 4"), "race"),
    ("06_past_cublas", "teams", ("giver = 1", "giver = 2"), "wrong-values")])
def test_a_student_writes_a_kernel_of_the_last_lessons(jupyterlab, name, task, change, says):
    assignment = sheets.assignment(name[:2])
    answer = f'{task} = """\n{assignment[task].text(assignment.drawn(None))}\n"""'
    with jupyterlab.lesson(f"exercises/{name}.ipynb") as lesson:
        lesson.run_all()
        student = Student(lesson)
        assert "1 of 3" in student.answer(task, student.source(task))
        assert says in student.answer(task, answer.replace(*change))
        assert student.answer(task, answer) == f"{task}: right."
        assert "Repair the kernel" in student.answer("repair", student.source("repair"))
        assert lesson.failed() == []
