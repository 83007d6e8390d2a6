"""The lessons as files: all of each was run, nothing failed, and nothing of the machine that ran it is left in it.

What the cells print is compared by nbval, which `make test` runs over the same files.
"""

from __future__ import annotations

import re

import nbformat
import pytest

from tools import build_notebooks
from tools.build_exercises import instructor_notebooks
from tools.lessons import lessons

LESSONS = [pytest.param(path, id=path.stem) for path in lessons()]
LESSONS += [pytest.param(path, id=f"instructor-{path.stem}") for path in instructor_notebooks()]
MAX_BYTES = 1_000_000
TAGS = {"nbval-ignore-output", "raises-exception"}  # never nbval-skip: an untested cell
FOLDER = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|var|mnt|Users|private)/\w|[A-Z]:\\Users")


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", LESSONS)
def test_every_code_cell_was_run_in_order(path):
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1)), "run `make notebooks`"


@pytest.mark.parametrize("path", LESSONS)
def test_no_cell_failed_or_is_exempt(path):
    for cell in code_cells(path):
        tags = set(cell.metadata.get("tags", []))
        errors = [output.evalue for output in cell.outputs if output.output_type == "error"]
        assert not errors or "raises-exception" in tags, errors
        assert errors or "raises-exception" not in tags, f"this cell should have failed: {cell.source}"
        assert tags <= TAGS


@pytest.mark.parametrize("path", LESSONS)
def test_the_file_is_what_the_builder_writes(path):
    """No widget state, times, random identifiers or versions; a second `make notebooks` would change nothing."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    build_notebooks.normalise(notebook)
    assert path.read_text(encoding="utf-8") == build_notebooks.text(notebook), "run `make notebooks`"


@pytest.mark.parametrize("path", LESSONS)
def test_no_output_names_a_folder_or_is_a_warning(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            assert output.get("name") != "stderr", f"{cell.source}\n{output.text}"
            text = "".join(output.get("text", "")) + str(output.get("data", {}).get("text/plain", ""))
            text += str(output.get("data", {}).get("text/html", "")) + "".join(output.get("traceback", []))
            assert not FOLDER.search(text), FOLDER.search(text)


@pytest.mark.parametrize("path", LESSONS)
def test_a_lesson_is_small(path):
    assert path.stat().st_size < MAX_BYTES


@pytest.mark.parametrize("path", LESSONS)
def test_at_most_three_code_cells_without_prose(path):
    kinds = "".join(cell.cell_type[0] for cell in nbformat.read(path, as_version=4).cells)
    assert kinds[0] == "m", "a lesson begins with words"
    assert "cccc" not in kinds


@pytest.mark.parametrize("path", LESSONS)
def test_guesses_are_drawn_at_the_end(path):
    sources = [cell.source for cell in code_cells(path)]
    asked = [n for n, source in enumerate(sources) if "gl.guess(" in source]
    drawn = [n for n, source in enumerate(sources) if "plot_guesses(" in source]
    assert not asked or drawn and drawn[-1] > asked[-1]


# --- the builder

CELLS = [  # source, tags
    ("import sys, time; print('a', flush=True); time.sleep(0.3); print('b')", []),
    ("object()", []),
    ("'a word that holds 0x7fc0dead'", []),
    ("import ipywidgets; ipywidgets.IntSlider()", []),
    ("import matplotlib.pyplot as plt; fig, ax = plt.subplots(); ax.plot([1, 2]);", []),
    ("print(f'{time.perf_counter_ns() % 10**9 / 1e6:.3f} ms')", ["nbval-ignore-output"]),
    ("import numpy as np; np.linalg.inv(np.zeros((2, 3)))", ["raises-exception"]),
    ("import os; print(repr(os.environ['CUDA_VISIBLE_DEVICES']))", []),
    ("1", []), ("1", [])]


def write(path, cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A lesson")])
    notebook.cells += [nbformat.v4.new_code_cell(s, metadata={"tags": tags, "scrolled": True}) for s, tags in cells]
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The bytes of a small lesson after it was built once and twice, and its code cells."""
    path = tmp_path_factory.mktemp("built") / "01_small.ipynb"
    write(path, CELLS)
    runs = [build_notebooks.build(path) and path.read_bytes() for _ in range(2)]
    return runs, code_cells(path)


def test_two_runs_give_the_same_bytes(built):
    """Widgets, pictures, objects and times included: digits that a clock changed stay as they were."""
    (first, second), cells = built
    assert first == second
    assert [cell.execution_count for cell in cells] == list(range(1, len(CELLS) + 1))
    assert b'"widgets"' not in first and b"scrolled" not in first
    assert "image/png" in cells[4].outputs[0].data
    assert "ms" in cells[5].outputs[0].text


def test_chance_is_left_out_and_meaning_is_not(built):
    _, cells = built
    assert [output.text for output in cells[0].outputs] == ["a\nb\n"]
    assert cells[1].outputs[0].data["text/plain"] == "<object at 0x…>"
    assert "0x7fc0dead" in cells[2].outputs[0].data["text/plain"]


def test_a_tagged_error_stays_without_the_folders_of_this_machine(built):
    trace = "\n".join(built[1][6].outputs[0].traceback)
    assert "numpy/linalg" in trace and not FOLDER.search(trace) and "~" not in trace


def test_a_lesson_sees_no_gpu(built):
    assert built[1][7].outputs[0].text == "''\n"


def test_equal_cells_have_names_of_their_own(built):
    assert len({cell.id for cell in built[1]}) == len(CELLS)


def test_other_outputs_of_a_timing_cell_are_new():
    def stream(text):
        return [nbformat.v4.new_output("stream", text=text)]
    assert build_notebooks.settle(stream("1.5 ms"), stream("12.25 ms")) == stream("1.5 ms")
    assert build_notebooks.settle(stream("1.5 ms"), stream("1.5 s")) == stream("1.5 s")
    assert build_notebooks.settle(None, stream("1.5 s")) == stream("1.5 s")


def test_a_lesson_that_fails_is_left_as_it_was(tmp_path, monkeypatch, capsys):
    path = tmp_path / "01_small.ipynb"
    write(path, [("print('fine')", []), ("1 / 0", [])])
    before = path.read_bytes()
    monkeypatch.setattr(build_notebooks, "lessons", lambda root: (path,))
    assert build_notebooks.main([]) == 1
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    assert "ZeroDivisionError" in capsys.readouterr().err
