"""Grading from the command line: twelve submissions of every kind, and what hostile ones can and cannot do."""

from __future__ import annotations

import copy
import csv
import json
import os
import re
import sys
import time
from pathlib import Path

import pytest

from gemm_lab import cli
from gemm_lab.exercises import notebook, release, sheets
from gemm_lab.grading import pool, reports, sandbox
from gemm_lab.grading.limits import Limits
from gemm_lab.grading.submissions import Submission, find
from tools.lessons import ROOT

LESSON, SEED = "02", "autumn"
SOURCE = next((ROOT / release.SOURCES).glob(f"{LESSON}*.ipynb"))
ASSIGNMENT = sheets.assignment(LESSON)
NUMBERS = ASSIGNMENT.drawn(SEED)
QUICK = Limits(task_seconds=2)
MOST = sum(task.points for task in ASSIGNMENT.tasks)


def code(source: str) -> dict:
    return {"cell_type": "code", "id": f"own-{abs(hash(source)) % 10**8}", "metadata": {}, "outputs": [],
            "execution_count": None, "source": source}


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> tuple[dict, dict]:
    """The seeded assignment as students get it, and with the model answers."""
    folder = tmp_path_factory.mktemp("versions")
    words = ["release", str(SOURCE), "--seed", SEED]
    assert cli.main([*words, "--out", str(folder)]) == cli.main([*words, "--nbgrader", str(folder)]) == 0
    return notebook.read(folder / SOURCE.name), notebook.read(folder / "source" / LESSON / SOURCE.name)


def with_answers(book: dict, extra: list[str] = (), **answers: str) -> dict:
    """A notebook with other cells in the place of some, and further cells at its beginning."""
    book = copy.deepcopy(book)
    found = [cell | {"source": answers[name]} if name in answers else cell for name, cell in notebook.by_name(book)]
    return book | {"cells": [code(text) for text in extra] + found}


def model(versions, *names: str) -> dict[str, str]:
    """The cells of model answers, by task."""
    return {name: notebook.source(cell) for name, cell in notebook.by_name(versions[1]) if name in names}


PATCH = """
import builtins, sys
import gemm_lab, gemm_lab.checking, gemm_lab.exercises.tasks as tasks
for name, module in list(sys.modules.items()):
    if name.startswith("gemm_lab"):
        module.check = lambda *a, **k: True
tasks.Task.check = lambda *a, **k: type("Feedback", (), {"passed": True, "kinds": ()})()
gemm_lab.exercises.sheet.Sheet.grade = lambda *a, **k: None
"""
FLOOD = 'for (int i = 0; i < 100000000; ++i) printf("right right right right %d ", i);'
SLOW = "for (volatile int i = 0; i < 2000000000; ++i);"
SPY = """def column(width):
    import os, sys
    sys.path[:0] = %r
    import gemm_lab.exercises.sheets.sheet02 as solution
    return solution.wavefronts(%d, width)"""
DELETE = """def column(width):
    import os, shutil
    for top in %r:
        shutil.rmtree(top, ignore_errors=True)
        for parent, _, files in os.walk(top):
            for name in files:
                os.remove(os.path.join(parent, name))
    return 1"""


@pytest.fixture(scope="module")
def graded(versions, tmp_path_factory, bubblewrap):
    """Twelve submissions and a link, graded by one command: (folder, out, scores by student, seconds by student)."""
    blank, perfect = versions
    folder, out = tmp_path_factory.mktemp("submitted"), tmp_path_factory.mktemp("graded")
    right = model(versions, "tile_words", "race", "mend")
    words = right["tile_words"].split('"')[1]
    sources = [str(ROOT), str(ROOT / "gemm_lab"), *[p for p in sys.path if p]]
    rect = model(versions, "rect")["rect"]
    direct = re.sub(r"acc \+= .*", "if (row < M && col < N) for (int k = k0; k < min(K, k0 + TK); ++k) acc += "
                    "A[(size_t)row * K + k] * B[(size_t)k * N + col];", rect).replace("for (int k = 0; k < TK; ++k)",
                                                                                      "")
    books = {
        "perfect": perfect,
        "blank": blank,
        "bytes": with_answers(blank, tile_words=f'tile_words = "4*({words})"'),
        "no rounding": with_answers(blank, tile_words=f'tile_words = "{words}"'.replace("ceil", "")),
        "reads A directly": with_answers(blank, rect=direct, **model(versions, "column")),
        "skeleton": with_answers(blank, turn=model(versions, "turn")["turn"].replace("__syncthreads();", "", 1)),
        "patches": with_answers(blank, [PATCH], race="race = {3}", tile_words=f"{PATCH}\ntile_words = 'M'",
                                **{"check-race": "print('race: right.')"}, order="order = sheet"),
        "hangs": with_answers(blank, ["while True: pass"], **right | {"column": "def column(width):\n    while True: "
                                                                                "pass"}),
        "floods": with_answers(blank, ["while True: print('right')"], **right | {"turn": re.sub(
            r"( +)As\[tx\]\[ty\] = a;", rf"\1{FLOOD}\n\1As[tx][ty] = a;", model(versions, "turn")["turn"])}),
        "eats memory": with_answers(blank, ["x = [0] * 10**12"], **right | {
            "column": "def column(width):\n    return len(bytearray(10**11))",
            "order": f"order = [{'[' * 190}{']' * 190}]"}),
        "deletes": with_answers(blank, **right | {"column": DELETE % [str(folder), str(ROOT), "/tmp", "/usr"]}),
        "imports": with_answers(blank, **right | {"column": SPY % (sources, NUMBERS.lanes)}),
    }
    for student, book in books.items():
        path = folder / student / LESSON / SOURCE.name
        path.parent.mkdir(parents=True)
        path.write_text(notebook.text(book), encoding="utf-8")
    (folder / "link").symlink_to(folder / "perfect")
    (folder / "lazy").mkdir()
    (folder / "lazy" / SOURCE.name).symlink_to(folder / "perfect" / LESSON / SOURCE.name)
    before = contents(folder)
    words = ["grade", str(folder), "--seed", SEED, "--out", str(out), "--jobs", "2", "--task-seconds",
             str(QUICK.task_seconds)]
    assert cli.main(words) == 0
    assert contents(folder) == before and SOURCE.exists()
    with open(out / "scores.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    return folder, out, rows


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.ipynb"))}


def points(*names: str) -> int:
    return sum(ASSIGNMENT[name].points for name in names)


def test_everybody_gets_what_the_answers_are_worth(graded):
    _, _, rows = graded
    three = points("tile_words", "race", "mend")
    assert {student: int(row["score"]) for student, row in rows.items()} == {
        "perfect": MOST, "blank": 0, "bytes": 0, "no rounding": 0, "reads A directly": points("column"), "skeleton": 0,
        "patches": 0, "hangs": three, "floods": three, "eats memory": three, "deletes": three, "imports": three}
    assert {int(row["max_score"]) for row in rows.values()} == {MOST}


def test_nobody_takes_long(graded):
    """Processor time is limited; the clock depends on what else the machine does, so the limit is wide here."""
    assert max(float(row["seconds"]) for row in graded[2].values()) < 60


KINDS = {"bytes": ("tile_words", "wrong-units"), "no rounding": ("tile_words", "no-rounding-up"),
         "hangs": ("column", "function-failed"),
         "reads A directly": ("rect", "over-budget"), "skeleton": ("turn", "skeleton-changed"),
         "patches": ("order", "unreadable"),
         "eats memory": ("order", "unreadable"), "floods": ("turn", "unsupported"),
         "deletes": ("column", "function-failed"), "imports": ("column", "function-failed")}


def test_the_items_count_each_kind_of_mistake(graded):
    with open(graded[1] / "items.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    counted = {(row["task"], row["kind"]): int(row["count"]) for row in rows}
    assert set(KINDS.values()) <= set(counted)
    assert counted["tile_words", "wrong-units"] == 1 and counted["column", "function-failed"] == 4
    by_task = {row["task"]: row for row in rows}
    assert by_task["tile_words"]["passed"] == "6" and by_task["tile_words"]["students"] == "12"
    assert by_task["rect"]["answered"] == "2"
    page = (graded[1] / "class.html").read_text()
    assert "over-budget (1)" in page and "1 of 12" in page


def test_each_student_gets_a_page_with_the_lines_and_nothing_hidden(graded):
    for student, (task, _) in KINDS.items():
        page = (graded[1] / "students" / student / f"{LESSON}.html").read_text()
        assert f"<h2>{task}: 0 of" in page and SEED not in page and str(ROOT) not in page
    page = (graded[1] / "students" / "reads A directly" / f"{LESSON}.html").read_text()
    assert "global_load_words is" in page and "for a block" not in page
    page = (graded[1] / "students" / "blank" / f"{LESSON}.html").read_text()
    for text in (release.ESSAY, "not answered", "Marked by hand"):
        assert text in page
    everything = "".join(path.read_text() for path in graded[1].rglob("*.html"))
    assert "BEGIN HIDDEN" not in everything


def test_links_are_left_out(graded, capsys):
    found, remarks = find(graded[0])
    assert len(found) == 12 and not {"link", "lazy"} & {s.student for s in found}
    assert any("lazy" in remark and "link" in remark for remark in remarks)


# --- reports

def test_a_page_shows_the_marked_lines_and_escapes_what_students_write(tmp_path):
    from gemm_lab.exercises.feedback import Feedback
    result = pool.Result(Submission("<b>eve</b>", "01", tmp_path))
    result.feedback["guard"] = Feedback("guard", False, "line 3 <script>", ("race",), (3,))
    result.sources["guard"] = 'guard = """\nint a;\n<script>alert(1)</script>\n"""'
    result.essays["essay-x"] = "<img src=x>"
    page = reports.student_page(result)
    assert "<mark>   3 | &lt;script&gt;" in page and not re.search(r"<script|<img|<b>", page)


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\t=x"])
def test_no_spreadsheet_takes_a_students_text_for_a_formula(text):
    assert reports.harmless(text).startswith("'") and reports.harmless("ann") == "ann"


def test_a_hidden_size_is_not_in_the_feedback(versions, tmp_path):
    """Right at the sizes that are shown, wrong at others: the page says so, and not at which."""
    sizes = " || ".join(f"(M == {M} && N == {N})" for M, N, _ in ASSIGNMENT["rect"].sizes)
    answer = model(versions, "rect")["rect"].replace("acc +=", f"if ({sizes}) acc +=")
    result = scored(tmp_path, with_answers(versions[0], rect=answer), QUICK)
    feedback = result.feedback["rect"]
    assert feedback.kinds == ("wrong-values",) and "does not show" in feedback.message
    assert not re.search(r"M=\d|\d+x\d+", feedback.message)


# --- hostile notebooks

def scored(folder: Path, book, limits: Limits = QUICK) -> pool.Result:
    path = folder / SOURCE.name
    path.write_text(book if isinstance(book, str) else notebook.text(book), encoding="utf-8")
    return pool.score(Submission("eve", LESSON, path), SEED, limits)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', "[" * 100_000,
                                  '{"cells": [' + "[" * 900 + "]" * 900 + "]}",
                                  '{"a": ' * 50_000, '{"cells": [1, null, {"metadata": 3, "source": {}}]}'],
                         ids=lambda text: text[:12])
def test_what_is_no_notebook_scores_nothing_and_says_so(tmp_path, text):
    result = scored(tmp_path, text)
    assert result.score == 0 and (result.note or all(f.kinds == ("not-answered",) for f in result.feedback.values()))


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / SOURCE.name
    with open(path, "wb") as file:
        file.truncate(30_000_000)
    result = pool.score(Submission("eve", LESSON, path), SEED, QUICK)
    assert "30,000,000 bytes" in result.note and result.seconds < 30


def test_a_process_that_is_ended_costs_its_task_alone(versions, tmp_path, monkeypatch):
    """A text on which the compiler takes more than its time: the tasks before and after it are scored."""
    bomb = "auto f = [](auto g, auto n) -> int { return g(g, n) + g(g, n + 1L) + g(g, (char)n); }; f(f, 1);"
    deep = "int a = " + "(" * 4000 + "1" + ")" * 4000 + ";"
    answers = model(versions, "tile_words", "mend", "turn")
    answers["rect"] = model(versions, "rect")["rect"].replace("acc +=", f"{bomb} {deep} acc +=")
    result = scored(tmp_path, with_answers(versions[0], **answers), Limits(task_seconds=1))
    assert result.score == points("tile_words", "mend", "turn")
    assert not result.feedback["rect"].passed and len(result.feedback) == len(ASSIGNMENT.tasks)


@pytest.mark.parametrize("limits, used, later, seconds", [
    (Limits(), 0.0, 6, 2), (Limits(), 0.4, 3, 3), (Limits(), 13.5, 0, 1), (Limits(), 99.0, 2, 1),
    (Limits(task_seconds=5, total_seconds=70), 30.0, 3, 5), (Limits(total_seconds=14), 6.0, 3, 2)])
def test_each_task_is_sure_of_its_part_of_the_total(limits, used, later, seconds):
    assert limits.share(used, later, 7) == seconds


def test_many_slow_tasks_end_in_time_and_the_others_are_scored(versions, tmp_path):
    """Three answers that never end, before others and after them: each costs its own points and none of the rest."""
    slow = {"column": "def column(width):\n    while True: pass"}
    for name, before in (("rect", "for \\(int k = 0; k < TK"), ("turn", "As\\[tx\\]\\[ty\\] = a")):
        slow[name] = re.sub(before, rf"{{ {SLOW} }} \g<0>", model(versions, name)[name])
    answers = model(versions, "tile_words", "race", "order", "mend") | slow
    result = scored(tmp_path, with_answers(versions[0], **answers), Limits(task_seconds=30, total_seconds=7))
    assert result.score == points("tile_words", "race", "order", "mend")
    assert result.feedback["rect"].kinds == result.feedback["turn"].kinds == ("stopped",)
    assert result.used < 10 and result.seconds < 60


def test_the_first_of_two_cells_with_one_id_counts(versions, tmp_path):
    answers = model(versions, "race")
    book = with_answers(versions[0], **answers)
    book["cells"].append({"cell_type": "code", "id": "race", "metadata": {}, "source": "race = {1}"})
    assert scored(tmp_path, book).feedback["race"].passed


def test_cells_are_found_without_nbgraders_marks_and_in_old_formats(versions, tmp_path):
    book = with_answers(versions[0], **model(versions, "race"))
    for cell in book["cells"]:
        cell["metadata"] = {}
    assert scored(tmp_path, book).feedback["race"].passed
    book = with_answers(versions[0], **model(versions, "race"))
    for cell in book["cells"]:
        cell.pop("id")
    assert scored(tmp_path, book | {"nbformat_minor": 2}).feedback["race"].passed


# --- the sandbox

def run(source: str, limits: Limits = QUICK, inputs=(3,)):
    return sandbox.run_function(source, "f", list(inputs), limits)


def test_a_function_runs_with_numpy_and_its_output_goes_nowhere(bubblewrap):
    source = "import numpy as np\nprint('noise')\ndef f(x):\n    print('noise')\n    return np.int64(x) * 2"
    assert run(source, inputs=(3, 4)).values == (6, 8)


@pytest.mark.parametrize("body, says", [
    ("raise ValueError('no')", "ValueError: no"), ("import gemm_lab", "ModuleNotFoundError"),
    ("import nbformat", "ModuleNotFoundError"),
    (f"open({str(SOURCE)!r})", "FileNotFoundError"), ("open('/etc/passwd')", "FileNotFoundError"),
    ("import sys; sys.exit()", "SystemExit"),
    ("open('/usr/x', 'w')", "Read-only|Permission"), ("import os; os.abort()", "without a result"),
    ("return bytearray(10**11)", "MemoryError"),
    ("import socket; socket.create_connection(('127.0.0.1', 22), 1)", "Error"),
    ("import os; os._exit(0)", "without a result"),
    ("import os; os.close(1); os.write(3, b'{' * 10**6); os._exit(0)", "without a result"),
    (f"import sys; sys.path.append({str(ROOT)!r}); import gemm_lab", "ModuleNotFoundError"),
    (f"open({str(Path.home() / '.bashrc')!r})", "FileNotFoundError"),
    ("import os; os.listdir('/home')", "FileNotFoundError"),
    ("import signal; signal.pause()", "too long")])
def test_what_a_function_cannot_do(bubblewrap, body, says):
    outputs = run(f"def f(x):\n    {body}", Limits(task_seconds=1))
    assert re.search(says, outputs.fault), outputs


@pytest.mark.parametrize("start", [
    "os.fork()", "os.posix_spawn('/usr/bin/true', ['true'], {})", "subprocess.run(['/usr/bin/true'])",
    "threading.Thread(target=print).start()", "ctypes.CDLL(None).fork() == -1 and os.fork()",
    "ctypes.CDLL(None, use_errno=True).syscall(435, None, 0) == -1 and os.strerror(ctypes.get_errno()).missing"])
def test_a_function_starts_no_process_and_no_thread(bubblewrap, start):
    """And so no fork bomb: it is refused, and need not be ended."""
    names = "import ctypes, os, subprocess, threading"
    outputs = run(f"def f(x):\n    {names}\n    while True:\n        {start}")
    assert re.search("not permitted|can't start new thread|no attribute 'missing'", outputs.fault), outputs


def test_where_calls_cannot_be_filtered_functions_are_not_run(bubblewrap, monkeypatch):
    monkeypatch.setattr(sandbox.platform, "machine", lambda: "riscv64")
    assert "x86_64 and aarch64 only" in run("def f(x): return 1").fault


def test_an_endless_function_is_ended_by_processor_time(bubblewrap):
    start = time.perf_counter()
    assert run("def f(x):\n    while True: pass", Limits(task_seconds=1)).fault
    assert time.perf_counter() - start < 30


def test_a_process_left_behind_is_ended(bubblewrap, tmp_path):
    marker = f"sleeper-{time.time_ns()}"
    run(f"def f(x):\n    import subprocess, sys\n    subprocess.Popen([sys.executable, '-c', 'import time; "
        f"time.sleep(99)', '{marker}'])\n    return 1")
    time.sleep(0.2)
    alive = [path for path in Path("/proc").glob("[0-9]*/cmdline") if marker in _read(path)]
    assert not alive


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def test_without_bubblewrap_functions_are_not_run_and_the_rest_is_scored(versions, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    result = scored(tmp_path, with_answers(versions[0], **model(versions, "column", "race")))
    assert result.feedback["race"].passed and not result.feedback["column"].passed
    assert "bubblewrap (bwrap) is not installed" in result.feedback["column"].message


# --- the command

@pytest.mark.parametrize("words, says", [
    (["nowhere", "--out", "x"], "no folder"), ([".", "--out", "x"], "holds no submission"),
    ([".", "--out", "x", "--jobs", "0"], "--jobs"), ([".", "--out", "x", "--total-seconds", "0"], "--total-seconds")])
def test_a_wrong_call_is_one_clear_line(words, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["grade", *words]) == 2
    error = capsys.readouterr().err
    assert says in error and "Traceback" not in error


def test_files_that_are_no_submission_are_named(tmp_path):
    (tmp_path / "ann").mkdir()
    for name in ("02_a.ipynb", "02_b.ipynb", "99_x.ipynb", "notes.txt"):
        (tmp_path / "ann" / name).write_text("{}")
    (tmp_path / "02_loose.ipynb").write_text("{}")
    (tmp_path / "ann" / ".ipynb_checkpoints").mkdir()
    (tmp_path / "ann" / ".ipynb_checkpoints" / "02_a-checkpoint.ipynb").write_text("{}")
    found, remarks = find(tmp_path)
    assert [s.path.name for s in found] == ["02_a.ipynb"]
    assert len(remarks) == 3 and all("left out" in remark for remark in remarks)
    assert json.dumps(remarks)


def test_a_sheet_of_another_release_is_remarked(versions, tmp_path, capsys):
    """The same perfect submission, graded with its seed and with another: the score alone would look like mistakes."""
    path = tmp_path / "in" / "Ann" / SOURCE.name
    path.parent.mkdir(parents=True)
    path.write_text(notebook.text(versions[1]), encoding="utf-8")
    for seed, strange in ((SEED, False), ("another", True)):
        assert cli.main(["grade", str(tmp_path / "in"), "--seed", seed, "--out", str(tmp_path / seed)]) == 0
        printed = capsys.readouterr().out
        assert ("other numbers than this seed" in printed) == strange and "1 submission:" in printed
        assert ("other numbers than this seed" in (tmp_path / seed / "class.html").read_text()) == strange
    assert cli.main(["grade", str(tmp_path / "in"), "--lesson", "06", "--out", str(tmp_path / "none")]) == 2
    assert "FOLDER/STUDENT/06_" in capsys.readouterr().err


def test_a_folder_whose_name_is_no_unicode_is_graded_like_others(versions, tmp_path):
    path = tmp_path / "in" / os.fsdecode(b"M\xfcller") / SOURCE.name
    path.parent.mkdir(parents=True)
    path.write_text(notebook.text(versions[0]), encoding="utf-8")
    assert cli.main(["grade", str(tmp_path / "in"), "--seed", SEED, "--out", str(tmp_path / "out")]) == 0
    assert "ller" in (tmp_path / "out" / "scores.csv").read_text(encoding="utf-8")
    assert len(list((tmp_path / "out" / "students").glob("*/*.html"))) == 1


def test_a_place_that_cannot_be_written_to_is_said_before_the_work(versions, tmp_path, capsys):
    path = tmp_path / "in" / "Ann" / SOURCE.name
    path.parent.mkdir(parents=True)
    path.write_text(notebook.text(versions[0]), encoding="utf-8")
    (tmp_path / "file").write_text("mine")
    assert cli.main(["grade", str(tmp_path / "in"), "--out", str(tmp_path / "file")]) == 2
    told = capsys.readouterr()
    assert "cannot be written to" in told.err and "Ann" not in told.out and (tmp_path / "file").read_text() == "mine"
