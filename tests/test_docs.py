"""What the README and the lessons say about the repository is so, and no file names a machine."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gemm_lab as gl
from tools.lessons import ROOT, lessons

README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|source)[^>]*?\bsrc(?:set)?=\"([^\"]+)\"")
BINARY = {".png", ".ico", ".woff2"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


# --- README

def test_every_make_command_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", README, re.M))
    assert {"lab", "test", "bench", "reset", "notebooks", "lock"} <= named <= targets


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_the_python_examples_run(number, tmp_path):
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", blocks("python")[number]]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "race" in done.stdout


def test_the_command_lines_of_gemm_lab_are_valid():
    from gemm_lab.cli import build_parser
    lines = re.findall(r"`(?:\.venv/bin/)?gemm-lab ([a-z][^`]*)`", README)
    assert len(lines) >= 3
    for line in lines:
        words = line.split()
        whole = {"check": ["check", "file.cu"], "grade": ["grade", "folder", "--out", "out"]}
        build_parser().parse_args(words if len(words) > 1 else whole.get(words[0], words))


def table_after(heading: str) -> list[list[str]]:
    """The cells of the first table after some words of the README, without its heading."""
    lines = iter(README[README.index(heading):].splitlines())
    rows = [next(line for line in lines if line.startswith("|"))]
    while (line := next(lines)).startswith("|"):
        rows.append(line)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in (rows[0], *rows[2:])]


def test_the_table_of_goals_is_the_record():
    goals = gl.recorded_goals("H200")
    table = table_after("`gl.best(M, N, K)`")[1:]
    rows = {tuple(map(int, (size.split(" × ") * 3)[:3])): cells for size, *cells in table}
    assert rows.keys() == {goal.size for goal in goals}
    for goal in goals:
        ratios = [f"{ratio:.3f}" for ratio in goal.ratios]
        assert rows[goal.size] == [f"{goal.cublas_tflops:.1f}", f"{goal.tflops:.1f}", *ratios]
    squares = [goals[n] for n in (512, 1024, 2048, 3072, 4096, 6144, 8192)]
    means = [f"{np.exp(np.mean(np.log([goal.ratios[run] for goal in squares]))):.3f}" for run in (0, 1)]
    assert f"is {means[0]} and {means[1]}." in README
    ladder = gl.recorded("H200", "ladder").row(gl.PipelinedTiling1D(), 4096)
    assert f"reaches {ladder.tflops:.1f} TFLOPS at 4096,\n{ladder.percent_of_cublas:.1f} % of cuBLAS" in README
    assert f"faster at {sum(goal.ratio >= 1 for goal in goals)} of {len(goals.rows)} sizes" in README
    tuned = gl.recorded("H200", "tuning").sizes
    assert [goal.size in tuned for goal in goals if goal.size in list(rows)[-3:]] == [False] * 3
    assert all(size in tuned for size in list(rows)[:-3])
    warm = [goal for goal in goals if set(goal.mhz) != {1980.0}]
    assert {goal.size for goal in warm} == {(6144,) * 3, (8192,) * 3, (8192, 8192, 64)}
    clocks = [mhz for goal in warm for mhz in goal.mhz]
    assert f"at {min(clocks):.0f} to\n{max(clocks):.0f}, as" in README
    assert goals.driver in README and goals.date in README


def test_what_the_readme_says_of_the_sizes_that_are_missed():
    goals = gl.recorded_goals("H200")
    assert {goal.size for goal in goals if goal.ratio < 1} == {(4096, 256, 4096), (512, 512, 8192), (64, 4096, 4096)}
    assert goals[4096, 256, 4096].ratio > 0.995
    for size in ((512, 512, 8192), (64, 4096, 4096)):
        assert gl.best(*size).SPLITS == 8 and gl.best(*size).launch_grid(*size[:2])[0] == 8 * 32
    missed = goals[512, 512, 8192]
    paper = 2e-6 * 512 * 512 * 8192 / goals[4096].tflops
    ours, theirs = ({f"{us[1]:.0f}" for us in both} for both in (missed.us, missed.cublas_us))
    assert (f"{paper:.0f}", ours, theirs) == ("82", {"103"}, {"94"})


def test_the_table_of_peers_is_the_record():
    (_, *sizes), (_, *mentor), (name, *tflops), (_, *ratios) = table_after("Two public projects")
    peers = gl.recorded("H200", "peers")
    assert mentor[3] == f"{peers.tflops('SGEMM_CUDA kernel 10, warp tiling', 4096):.1f}"
    rows = [peers.row(name.split(",")[0], int(n)) for n in sizes]
    assert tflops == [f"{row.tflops:.1f}" for row in rows]
    assert ratios == [f"{row.percent_of_cublas / 100:.2f}" for row in rows]


NAMED = set(re.findall(r"`([\w./-]*[./][\w./-]*)`", README)) - {".venv", ".cu", "my_01_naive.ipynb"}


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_file_that_the_readme_names_exists(name):
    attribute = re.fullmatch(r"gl\.(\w+)", name)
    assert hasattr(gl, attribute[1]) if attribute else (ROOT / name).exists()


def test_the_readme_lists_the_lessons():
    listed = re.findall(r"^\| (0\d) ", README, re.M)
    assert listed == [path.name[:2] for path in lessons()]


def test_the_percentages_are_the_recorded_ones():
    percent = {row.kernel: row.percent_of_cublas for row in gl.recorded("H200").rows if row.M == row.N == row.K == 4096}
    assert f"may reach {percent['Naive(coalesced=False)']:.0f} %" in README
    assert f"it reaches {percent['Naive(coalesced=True)']:.0f} %" in README


# --- the instructor's guide

GUIDE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")


def test_the_guides_commands_exist():
    from gemm_lab.cli import build_parser
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert {"setup", "nbgrader", "exercises"} <= set(re.findall(r"^make ([a-z-]+)$", GUIDE, re.M)) <= targets
    lines = re.findall(r"gemm-lab ((?:release|grade)[^`\n]*)", GUIDE)
    assert len(lines) > 5
    for line in lines:
        if line.startswith("release") or "--out" in line:
            build_parser().parse_args(shlex.split(line))


def test_the_guide_lists_the_assignments_with_their_points():
    from gemm_lab.exercises import sheets
    listed = re.findall(r"^\| (\d\d) ([^|]+) \|[^|]+\| \d+ \| (\d+) \+ (\d+) \|", GUIDE, re.M)
    essays = {path.name[:2]: cell.metadata.nbgrader.points
              for path in sorted((ROOT / "notebooks" / "instructor").glob("*.ipynb"))
              for cell in nbformat.read(path, as_version=4).cells if cell.get("id", "").startswith("essay-")}
    assignments = [sheets.assignment(lesson) for lesson in sheets.LESSONS]
    points = [str(sum(task.points for task in a.tasks)) for a in assignments]
    assert listed == [(a.lesson, a.title, p, str(essays[a.lesson])) for a, p in zip(assignments, points, strict=True)]


# --- links

def texts() -> list:
    """(name, folder, Markdown text) of the README and of the prose of each lesson."""
    found = [pytest.param(ROOT, README, id="README"), pytest.param(ROOT / "docs", GUIDE, id="instructors")]
    for path in lessons():
        prose = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
        found.append(pytest.param(path.parent, "\n".join(prose), id=path.stem))
    return found


@pytest.mark.parametrize("folder, text", texts())
def test_every_relative_link_leads_somewhere(folder, text):
    for target in (first or second for first, second in LINK.findall(text)):
        if not re.match(r"[a-z]+:|#", target):
            assert (folder / target.split("#")[0]).exists(), target


# --- public names

@pytest.mark.parametrize("name", gl.__all__)
def test_every_public_name_is_there_and_explained(name):
    thing = getattr(gl, name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert thing.__doc__ and not thing.__doc__.startswith(f"{name}("), "a docstring of its own"
        assert thing.__module__.startswith("gemm_lab")


# --- all files

def files(git: str) -> list[Path]:
    """Text files that are, or will be, under version control."""
    words = [git, "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(words, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    return [path for path in map(ROOT.joinpath, names) if path.is_file() and path.suffix not in BINARY]


MACHINE = re.compile(r"(?<![\w.])/(?:home|Users|root)/\w|https?://[^\s\"']*(?:/simple\b|\.whl|\.tar\.gz|\.tgz)")


def test_no_file_names_a_machine_or_a_registry(git):
    here = [str(folder) for folder in (ROOT, Path.home()) if len(folder.parts) > 2]
    for path in files(git):
        text = path.read_text(encoding="utf-8")
        for line in text.split("\n"):
            assert not MACHINE.search(line) and not any(name in line for name in here), f"{path.name}: {line[:200]}"


def test_no_other_lock_is_kept(git):
    """uv.lock and pylock.toml write the registry's host into every entry."""
    assert not [path for path in files(git) if path.name in ("uv.lock", "pylock.toml")]


def test_no_unfinished_marks(git):
    marks = re.compile("|".join(rf"\b{a}{b}\b" for a, b in (("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK"))))
    found = [f"{p.name}: {m[0]}" for p in files(git) if p.suffix in (".py", ".cu", ".js", ".ipynb", ".md")
             for m in [marks.search(p.read_text(encoding="utf-8"))] if m]
    assert not found
