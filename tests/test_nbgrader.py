"""The exercises through nbgrader's own commands, which run in the environment that `make nbgrader` sets up."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from gemm_lab.exercises import notebook, release, sheets
from tools.lessons import ROOT

BIN = ROOT / ".venv-nbgrader" / "bin"
LESSON, SEED = "01", "xyzzy 7"
SOURCE = next((ROOT / release.SOURCES).glob(f"{LESSON}*.ipynb"))


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with the seeded sources of one assignment, released by nbgrader."""
    if not (BIN / "nbgrader").exists():
        pytest.skip("nbgrader is not installed (make nbgrader)")
    folder = tmp_path_factory.mktemp("course")
    release.write_release(SOURCE, folder / "source" / LESSON, SEED, solutions=True)
    release.write_config(folder, SEED)
    nbgrader(folder, "generate_assignment", LESSON)
    return folder


def nbgrader(folder: Path, *words: str) -> None:
    """Run one of nbgrader's commands in a course, with Jupyter's folders apart from the user's."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
    env |= {f"JUPYTER_{what}_DIR": str(folder / ".jupyter" / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    env |= {"PATH": f"{BIN}{os.pathsep}{env['PATH']}", "IPYTHONDIR": str(folder / ".ipython")}
    done = subprocess.run([BIN / "nbgrader", *words], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def test_nbgrader_releases_what_gemm_lab_releases(course, tmp_path):
    ours = notebook.read(release.write_release(SOURCE, tmp_path, SEED))
    theirs = notebook.read(course / "release" / LESSON / SOURCE.name)
    for cell in theirs["cells"]:
        for own in ("checksum", "cell_type"):
            cell["metadata"].get("nbgrader", {}).pop(own, None)
    assert json.loads(notebook.text(theirs)) == json.loads(notebook.text(ours))
    assert notebook.read(course / "release" / LESSON / SOURCE.name)["cells"][1]["metadata"]["nbgrader"]["checksum"]


def submit(course: Path, student: str, book: dict) -> None:
    path = course / "submitted" / student / LESSON / SOURCE.name
    path.parent.mkdir(parents=True)
    path.write_text(notebook.text(book), encoding="utf-8")


def answered(book: dict, **answers: str) -> dict:
    for name, cell in notebook.by_name(book):
        cell["source"] = answers.get(name.replace("-", "_"), notebook.source(cell))
    return book


def test_nbgrader_grades_answers_blanks_and_tampered_checks(course):
    released = course / "release" / LESSON / SOURCE.name
    submit(course, "perfect", notebook.read(course / "source" / LESSON / SOURCE.name))
    submit(course, "blank", notebook.read(released))
    submit(course, "tampering", answered(notebook.read(released), check_words="print('right')", check_flat="1 + 1"))
    nbgrader(course, "autograde", LESSON)
    nbgrader(course, "generate_feedback", LESSON)
    nbgrader(course, "export")
    with open(course / "grades.csv", newline="") as file:
        scores = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    most = sum(task.points for task in sheets.assignment(LESSON).tasks)
    essay = 5
    assert scores == {"perfect": (most, most + essay), "blank": (0, most + essay), "tampering": (0, most + essay)}
    page = (course / "feedback" / "blank" / LESSON / f"{SOURCE.stem}.html").read_text()
    assert "Asked for: a formula" in page and SEED not in page


def test_the_students_environment_has_no_nbgrader():
    assert not (ROOT / ".venv" / "bin" / "nbgrader").exists()
