"""The released exercises: generated, committed, without solutions, and different for every seed."""

from __future__ import annotations

import ast
import difflib
import re
from pathlib import Path

import nbformat
import pytest

from gemm_lab import cli
from gemm_lab.exercises import cells, notebook, release, sheets
from tools.build_exercises import RELEASED, complete, instructor_notebooks
from tools.lessons import ROOT, lessons

SOURCES = instructor_notebooks()
BOTH = [pytest.param(path, RELEASED / path.name, id=f"exercises-{path.stem}") for path in SOURCES]


def test_there_is_one_for_each_lesson_that_has_an_assignment():
    assert [release.lesson_of(path) for path in SOURCES] == list(sheets.LESSONS)
    assert {path.name for path in SOURCES} <= {path.name for path in lessons()}
    assert sorted(path.name for path in RELEASED.glob("*.ipynb")) == [path.name for path in SOURCES]


@pytest.mark.parametrize("source, student", BOTH)
def test_a_lesson_ends_with_a_link_to_its_exercises(source, student):
    path = ROOT / "notebooks" / source.name
    *_, last = (cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    assert f"](exercises/{student.name})" in last.split("\n")[-1]


@pytest.mark.parametrize("source, student", BOTH)
def test_regeneration_gives_the_same_bytes(source, student, tmp_path):
    assert release.write_release(source, tmp_path).read_bytes() == student.read_bytes(), "run `make exercises`"


@pytest.mark.parametrize("source, student", BOTH)
def test_nbformat_writes_the_same_bytes(source, student):
    """Opening and saving in Jupyter changes nothing but what was changed."""
    for path in (source, student):
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        assert nbformat.writes(book) + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("source, student", BOTH)
def test_the_source_is_what_its_assignment_says(source, student):
    book = nbformat.read(source, as_version=4)
    complete(book, release.lesson_of(source))
    assert nbformat.writes(book) + "\n" == source.read_text(encoding="utf-8"), "run `make exercises`"


def texts(path: Path) -> dict[str, str]:
    return {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}


REGION = re.compile(r"^[^\n]*### BEGIN (SOLUTION|HIDDEN TESTS).*?### END \1[^\n]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("source, student", BOTH)
def test_the_students_version_differs_inside_solution_regions_only(source, student):
    """Found by comparing the texts, not by the code that strips them."""
    ours, theirs = texts(source), texts(student)
    assert list(ours) == list(theirs)
    for name, text in ours.items():
        if name.startswith("essay-"):
            assert theirs[name] == release.ESSAY
            continue
        inside = {n for match in REGION.finditer(text)
                  for n in range(text[:match.start()].count("\n"), text[:match.end()].rstrip("\n").count("\n") + 1)}
        text = re.sub(r"<!--\w+-->|<!--/-->", "", text)
        blocks = difflib.SequenceMatcher(None, text.split("\n"), theirs[name].split("\n"), autojunk=False).get_opcodes()
        for tag, first, last, *_ in blocks:
            assert tag == "equal" or tag == "insert" and {first - 1,
                                                          first} & inside or set(range(first, last)) <= inside, name


@pytest.mark.parametrize("source, student", BOTH)
def test_no_solution_is_in_the_students_version(source, student):
    everything = student.read_text(encoding="utf-8")
    for mark in ("### ", "<!--", "sheet.grade", "*Marking"):
        assert mark not in everything
    kept = "\n".join(texts(student).values())
    for text in texts(source).values():
        for match in re.finditer(r"### BEGIN SOLUTION[^\n]*\n(.*?)\n[^\n]*### END SOLUTION", text, re.DOTALL):
            assert match[1].strip() not in kept


@pytest.mark.parametrize("source, student", BOTH)
def test_points_are_those_of_the_assignment_and_essays_are_marked_by_hand(source, student):
    assignment = sheets.assignment(release.lesson_of(source))
    assert 5 <= len(assignment.tasks) + 1 <= 8
    for path in (source, student):
        marks = [cell.metadata.nbgrader for cell in nbformat.read(path,
                                                                  as_version=4).cells if "nbgrader" in cell.metadata]
        graded = {mark.grade_id: mark.points for mark in marks if mark.grade}
        essays = {name: graded.pop(name) for name in list(graded) if name.startswith("essay-")}
        assert graded == {f"check-{task.name}": task.points for task in assignment.tasks} and len(essays) == 1
        assert {mark.grade_id for mark in marks if mark.solution} == {t.name for t in assignment.tasks} | set(essays)


@pytest.mark.parametrize("source, student", BOTH)
def test_an_untouched_notebook_runs_from_top_to_bottom_and_asks_for_every_answer(source, student):
    names, shown = {}, []
    for cell in nbformat.read(student, as_version=4).cells:
        if cell.cell_type == "code":
            *body, last = ast.parse(cell.source).body
            exec(compile(ast.Module(body, []), cell.id, "exec"), names)
            if isinstance(last, ast.Expr):
                shown.append(repr(eval(compile(ast.Expression(last.value), cell.id, "eval"), names)))
            else:
                exec(compile(ast.Module([last], []), cell.id, "exec"), names)
    assert sum(": not answered." in text for text in shown) == len(sheets.assignment(release.lesson_of(source)).tasks)


# --- seeds

@pytest.fixture
def seeded(tmp_path) -> Path:
    words = ["release", *map(str, SOURCES), "--seed", "top secret", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    return tmp_path


def test_a_seed_changes_the_sheet_and_the_prose_and_is_nowhere_to_be_read(seeded):
    for source in SOURCES:
        path = seeded / source.name
        ours, public = texts(path), texts(RELEASED / source.name)
        assert ours["setup"] != public["setup"] and 'form="' in ours["setup"]
        assert sum(ours[name] != public.get(name) for name in ours) > 4
        assert "secret" not in path.read_text(encoding="utf-8")
        assignment = sheets.assignment(release.lesson_of(source))
        for name, text in texts(source).items():
            for slot, value in cells.SLOT.findall(text):
                assert value == str(assignment.shown[slot])
                assert cells.without_slots(cells.filled(text, assignment.draw("top secret")[0])) == ours.get(name, "")


def test_a_slot_that_the_assignment_does_not_know_is_an_error():
    with pytest.raises(ValueError, match="slot 'T'; the assignment has TX"):
        cells.filled("<!--T-->16<!--/-->", {"TX": 3})


@pytest.mark.parametrize("words, says", [
    (["--seed", "x"], "needs --out"), (["nothing.ipynb"], "begin with one of 00, 01"),
    (["README.md", "--out", "x"], "begin with one of"), (["00_missing.ipynb", "--out", "x"], "No such file")])
def test_a_wrong_call_is_one_line(words, says, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert cli.main(["release", *words]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_without_sources_it_says_where_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["release"]) == 2 and "copy of the repository" in capsys.readouterr().err


def test_a_notebook_in_which_somebody_has_worked_is_not_overwritten(tmp_path):
    target = release.write_release(SOURCES[0], tmp_path)
    assert release.write_release(SOURCES[0], tmp_path, seed="new").exists()     # nobody has
    book = notebook.read(target)
    next(cell for cell in book["cells"] if cell["cell_type"] == "code")["execution_count"] = 1
    target.write_text(notebook.text(book), encoding="utf-8")
    with pytest.raises(ValueError, match="move it away"):
        release.write_release(SOURCES[0], tmp_path)


def test_an_answer_that_was_never_run_is_not_overwritten(tmp_path):
    target = release.write_release(SOURCES[0], tmp_path)
    book = notebook.read(target)
    answer = next(cell for cell in book["cells"] if cell["metadata"].get("editable", True))
    answer["source"] = "mine = 4"
    target.write_text(notebook.text(book), encoding="utf-8")
    with pytest.raises(ValueError, match="move it away"):
        release.write_release(SOURCES[0], tmp_path)
    assert "mine = 4" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize("change, says", [
    (lambda cell: cell.update(source="x = 1"), "has no solution"),
    (lambda cell: cell["metadata"].clear(), "not marked"),
    (lambda cell: cell.update(source="### BEGIN SOLUTION x"), "never closed")])
def test_an_instructors_slip_is_found(change, says):
    book = notebook.read(SOURCES[0])
    change(next(cell for name, cell in notebook.by_name(book) if name == "flops"))
    with pytest.raises(ValueError, match=says):
        release.released(book)
