"""Set-up and its helpers: the Makefile's messages, `make reset`, and what may be skipped where."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import reset
from tools.lessons import ROOT, find_lesson, lessons

# --- the Makefile


def make(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess:
    """`make` in a folder, with no choice made by the `make` or the shell that these tests run in."""
    base = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "CUDA", "PYTHON", "VIRTUAL_ENV")}
    return subprocess.run(["make", *words], cwd=folder, env=base | env, capture_output=True, text=True)


@pytest.fixture
def fresh(tmp_path):
    """A folder with nothing but what set-up reads, as after a clone."""
    for path in [ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("*.lock")]:
        shutil.copy(path, tmp_path)
    return tmp_path


def python_that(folder: Path, answers: str) -> str:
    """A stand-in for Python which runs `answers` (shell) for each -c."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{answers}\n")
    path.chmod(0o755)
    return f"PYTHON={path}"


def test_an_old_or_missing_python_is_one_line_that_says_what_to_install(fresh):
    for python in (python_that(fresh, "exit 1"), "PYTHON=no-such-python"):
        done = make(fresh, "lab", python)
        first, last = done.stderr.strip().split("\n")
        assert done.returncode == 2 and "3.11" in first and "apt-get install" in first and "PYTHON=python3.12" in first
        assert last.startswith("make: ***")


def test_a_python_without_venv_is_one_line_that_says_what_to_install(fresh):
    done = make(fresh, "test", python_that(fresh, 'case "$*" in *ensurepip*) exit 1;; esac'))
    first, _ = done.stderr.strip().split("\n")
    assert done.returncode == 2 and "apt-get install python3-venv" in first


@pytest.mark.parametrize("value", ["11", "13.0", "yes"])
def test_another_cuda_is_one_line(fresh, value):
    done = make(fresh, "lab", f"CUDA={value}")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"CUDA={value}: choose CUDA=12 or CUDA=13" in done.stderr


def planned(folder: Path, *words: str, **env: str) -> str:
    return make(folder, "--dry-run", *words, **env).stdout


def locks_of(folder: Path, *words: str, **env: str) -> list[str]:
    """The locks that a command would install."""
    return re.search(r"uv pip sync --require-hashes (.*)", planned(folder, *words, **env)).group(1).split()


def test_cuda_installs_both_locks_together_and_is_remembered(fresh):
    common, cuda12, cuda13 = "requirements.lock", "requirements-cuda12.lock", "requirements-cuda13.lock"
    assert locks_of(fresh, "lab", "CUDA=13") == [common, cuda13]
    assert locks_of(fresh, "lab", "CUDA=12") == [common, cuda12]
    assert locks_of(fresh, "lab") == [common] == locks_of(fresh, "lab", CUDA="/usr/local/cuda")
    (fresh / ".venv").mkdir()
    (fresh / ".venv" / "ready-cuda13").touch()
    assert locks_of(fresh, "test") == [common, cuda13]
    assert locks_of(fresh, "test", "CUDA=12") == [common, cuda12]


def test_the_second_environment_comes_with_the_tests_and_not_with_the_lessons(fresh):
    assert ".venv-nbgrader" not in planned(fresh, "lab")
    assert ".venv-nbgrader" in planned(fresh, "test") and "requirements-instructor.lock" in planned(fresh, "nbgrader")


@pytest.fixture
def ready(fresh):
    """The same folder after set-up."""
    for name in (".venv/bin/python", ".venv/made-in", ".venv/ready", *(f".tools/{n}" for n in tools_stamps(fresh))):
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        (fresh / name).touch(mode=0o755)
    (fresh / ".venv/made-in").write_text(f"{fresh}\n")
    return fresh


def tools_stamps(folder: Path) -> list[str]:
    line = next(line for line in (folder / "Makefile").read_text().split("\n") if line.startswith("UV_VERSION"))
    return [f"uv-{line.split()[-1]}"]


def test_nothing_is_done_twice(ready):
    assert "uv" not in planned(ready, "setup")


def test_a_changed_lock_is_installed(ready):
    later = (ready / ".venv/ready").stat().st_mtime + 10
    os.utime(ready / "requirements.lock", (later, later))
    assert "uv pip sync" in planned(ready, "setup") and "uv venv" not in planned(ready, "setup")


@pytest.mark.parametrize("harm", [lambda folder: (folder / ".venv/made-in").write_text("/elsewhere\n"),
                                  lambda folder: (folder / ".venv/bin/python").unlink()])
def test_a_moved_folder_or_a_lost_python_is_set_up_anew(ready, harm):
    harm(ready)
    assert "uv venv --quiet --clear" in planned(ready, "setup")


def test_every_target_is_explained(fresh):
    shown = {line.split()[1] for line in make(fresh, "help").stdout.strip().split("\n")}
    phony = next(line for line in (fresh / "Makefile").read_text().split("\n") if line.startswith(".PHONY: help"))
    assert shown == set(phony.split()[1:])


# --- lessons

@pytest.mark.parametrize("word", ["01", "1", "01_naive", "01_naive.ipynb", "naive", "notebooks/01_naive.ipynb"])
def test_a_lesson_is_found_by_number_or_name(word):
    assert find_lesson(word, ("00_start_here.ipynb", "01_naive.ipynb", "11_other.ipynb")) == "01_naive.ipynb"


@pytest.mark.parametrize("word", ["7", "", "e", "tiling", "00_start"])
def test_an_unknown_or_ambiguous_lesson_lists_those_that_exist(word):
    known = ("01_naive.ipynb", "02_shared_tiling.ipynb", "03_register_tiling.ipynb")
    with pytest.raises(ValueError, match="01_naive.ipynb, 02_shared_tiling.ipynb"):
        find_lesson(word, known)


# --- reset

@pytest.fixture(params=["git", "archive"])
def course(request, tmp_path, git):
    """A small course, from a clone or from an archive; another project's repository lies around it."""
    subprocess.run([git, "init", "--quiet", tmp_path], check=True)
    root = tmp_path / "course"
    (root / "notebooks").mkdir(parents=True)
    for name in ("00_start.ipynb", "01_naive.ipynb"):
        (root / "notebooks" / name).write_text(f"original {name}")
    if request.param == "git":
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "-m", "lessons"]):
            subprocess.run([git, *words], cwd=root, check=True)
    reset.keep(root)
    assert (root / reset.KEPT).exists() == (request.param == "archive")
    return root


def test_reset_restores_the_lesson_and_never_overwrites_a_copy(course):
    lesson = course / "notebooks" / "01_naive.ipynb"
    for answers in ("first", "second", "third"):
        lesson.write_text(answers)
        reset.keep(course)  # set-up may run again in between
        assert "your copy is my_01_naive" in reset.reset(course, "01")
        assert lesson.read_text() == "original 01_naive.ipynb"
    copies = {path.name: path.read_text() for path in course.glob("notebooks/my_*")}
    assert copies == {"my_01_naive.ipynb": "first", "my_01_naive_2.ipynb": "second", "my_01_naive_3.ipynb": "third"}
    assert [path.name for path in lessons(course)] == ["00_start.ipynb", "01_naive.ipynb"]


def test_reset_of_an_untouched_or_deleted_lesson_makes_no_copy(course):
    lesson = course / "notebooks" / "01_naive.ipynb"
    assert "nothing to do" in reset.reset(course, "1")
    lesson.unlink()
    assert reset.reset(course, "1") == "01_naive.ipynb is back as it came."
    assert lesson.read_text() == "original 01_naive.ipynb" and not list(course.glob("notebooks/my_*"))


def test_reset_without_a_lesson_says_how():
    assert "make reset LESSON=01" in reset.main([])
    assert "the lessons are" in reset.main(["99"])


# --- what may be skipped

RULES = '''
import pytest
class NoCompiler(RuntimeError): pass
def test_passes(): pass
def test_skips(): pytest.skip("no such program")
@pytest.mark.skipif(True, reason="never")
def test_is_skipped(): pass
@pytest.mark.gpu
def test_gpu(): pytest.skip("no GPU")
def test_compiles(): raise NoCompiler("install NVRTC")
@pytest.mark.xfail
def test_xfail(): assert 0
'''


@pytest.mark.parametrize("ci, workers, outcome", [
    ("", "0", "1 passed, 5 skipped, 1 xfailed"),
    ("true", "1", "2 failed, 1 passed, 1 skipped, 1 xfailed, 2 errors")])
def test_only_what_needs_a_gpu_is_skipped_in_ci(tmp_path, ci, workers, outcome):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_rules.py").write_text(RULES)
    (tmp_path / "test_module.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", workers, "-W", "ignore", "."], cwd=tmp_path,
                          env=os.environ | {"CI": ci, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert outcome in done.stdout.split("\n")[-2], done.stdout
    assert done.returncode == (1 if ci else 0)
