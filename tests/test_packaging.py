"""Locks, conda files and the wheel: all say what pyproject.toml says, and the wheel works far from the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tools.lessons import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {name: [Requirement(r) for r in words] for name, words in PROJECT["optional-dependencies"].items()}
BASE = [Requirement(r) for r in PROJECT["dependencies"]]
NEEDS = BASE + EXTRAS["lab"] + EXTRAS["fast"] + EXTRAS["dev"]
LOCKS = ("requirements.lock", "requirements-cuda12.lock", "requirements-cuda13.lock", "requirements-instructor.lock")


def locked(name: str) -> dict[str, set[str]]:
    """Package -> its versions in a lock (more than one where platforms or Pythons differ)."""
    versions: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([A-Za-z0-9._-]+)==([^ \\]+)", (ROOT / name).read_text(), re.M):
        versions.setdefault(canonicalize_name(package), set()).add(version)
    return versions


# --- locks

@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host_and_pins_every_entry_by_hash(name):
    text = (ROOT / name).read_text()
    assert "://" not in text and "index" not in text and "find-links" not in text and "@" not in text
    entries = [entry for entry in re.split(r"\n(?! )", text) if entry.strip() and not entry.startswith("#")]
    assert len(entries) > 20
    for entry in entries:
        assert re.match(r"[A-Za-z0-9._-]+==\S+( ; [^\\]+)? \\\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n?)+$", entry), entry


@pytest.mark.parametrize("name, needs", [(LOCKS[0], NEEDS), (LOCKS[1], BASE + EXTRAS["cuda12"]),
                                         (LOCKS[2], BASE + EXTRAS["cuda13"]),
                                         (LOCKS[3], BASE + EXTRAS["instructor"] + EXTRAS["fast"])])
def test_a_lock_satisfies_pyproject(name, needs):
    versions = locked(name)
    for need in needs:
        pinned = versions.get(canonicalize_name(need.name), ())
        assert pinned and all(map(need.specifier.contains, pinned)), f"{name} has not {need}: run `make lock`"


def test_cupy_and_nbgrader_stay_out_of_the_common_lock():
    assert not [name for name in locked(LOCKS[0]) if name.startswith(("cupy", "nbgrader"))]


def test_the_instructors_lock_changes_no_common_version():
    common, versions = locked(LOCKS[0]), locked(LOCKS[3])
    assert "nbgrader" in versions and not [name for name in versions if name.startswith("cupy")]
    assert {p: v for p, v in versions.items() if p in common} == {p: common[p] for p in versions if p in common}


@pytest.mark.parametrize("name, cupy", [(LOCKS[1], "cupy-cuda12x"), (LOCKS[2], "cupy-cuda13x")])
def test_a_cuda_lock_adds_one_cupy_and_changes_nothing(name, cupy):
    common, versions = locked(LOCKS[0]), locked(name)
    assert [package for package in versions if package.startswith("cupy")] == [cupy]
    assert any("cublas" in package for package in versions)
    assert {p: v for p, v in versions.items() if p in common} == {p: common[p] for p in versions if p in common}


# --- conda

def conda(name: str) -> tuple[list[Requirement], list[str]]:
    """What conda installs, and what pip does after it, in an environment file."""
    *words, last = yaml.safe_load((ROOT / name).read_text())["dependencies"]
    return [Requirement(word) for word in words if word != "pip"], last["pip"]


@pytest.mark.parametrize("name, gpu", [("environment.yml", True), ("environment-cpu.yml", False)])
def test_a_conda_file_agrees_with_pyproject(name, gpu):
    """conda-forge's packages have pyproject's ranges; pip then installs the rest of pyproject.toml itself."""
    assert yaml.safe_load((ROOT / name).read_text())["channels"] == ["conda-forge", "nodefaults"]
    by_conda, by_pip = conda(name)
    ranges = {need.name: need.specifier for need in NEEDS}
    ranges["python"] = SpecifierSet(PROJECT["requires-python"])
    if gpu:
        ranges["cupy"] = EXTRAS["cuda13"][0].specifier
    assert {r.name: r.specifier for r in by_conda} == {r.name: ranges[r.name] for r in by_conda}
    common = {"python", "jupyterlab", "numpy", "matplotlib", "ipywidgets", "anywidget", "nbval"}
    assert {r.name for r in by_conda} == common | ({"cupy"} if gpu else set())
    assert by_pip == ["-e .[lab,fast,dev]"]


def test_the_conda_files_differ_by_cupy_alone():
    gpu, cpu = conda("environment.yml"), conda("environment-cpu.yml")
    assert [r for r in gpu[0] if r.name != "cupy"] == cpu[0] and gpu[1] == cpu[1]


# --- the wheel

@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True,
                   capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_the_package_and_the_kernels_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        info = {Path(name).name for name in archive.namelist() if ".dist-info/" in name}
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "gemm_lab").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}
    kernels = {f"gemm_lab/cuda/{path.name}" for path in (ROOT / "kernels").glob("*.cu")}
    assert held == package | kernels
    assert "LICENSE" in info


SMOKE = """
import sys
from pathlib import Path
import numpy as np
import gemm_lab as gl
home = Path(gl.__file__).parent
assert home.is_relative_to(sys.prefix), home
A, B = np.ones((5, 3), np.float32), np.ones((3, 4), np.float32)
for kernel in (gl.Naive(), gl.SharedTiling(TILE=8), gl.RegisterTiling1D(BM=16, BN=16, BK=4, TM=4)):
    assert "__global__" in kernel.source
    {run}
print(len(gl.recorded("H200").rows), *sorted(p.suffix for p in home.rglob("*") if p.suffix in (".js", ".css")))
"""
RUN = "assert np.allclose(kernel.run(A, B).C, 3)" if sys.platform != "darwin" else "pass"


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The Python of a fresh environment with the wheel, which borrows this one's other packages."""
    folder = tmp_path_factory.mktemp("elsewhere") / "env"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                          capture_output=True, text=True).stdout.strip()
    # A plain path: the borrowed folder's own .pth files, one of which leads to the checkout, are not read.
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    return python


def run_elsewhere(python: Path, *words: str) -> str:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([python, *words], cwd=python.parents[2], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_installed_wheel_runs_the_kernels_and_finds_its_files(installed):
    rows, *suffixes = run_elsewhere(installed, "-c", SMOKE.format(run=RUN)).split()
    assert int(rows) > 0
    assert set(suffixes) == {path.suffix for path in (ROOT / "gemm_lab").rglob("*") if path.suffix in (".js", ".css")}


def test_an_installed_wheel_brings_the_command(installed):
    shown = run_elsewhere(installed, str(installed.parent / "gemm-lab"), "--version")
    assert shown.split() == ["gemm-lab", PROJECT["version"]]


def test_importing_the_package_needs_numpy_alone(installed):
    heavy = ("matplotlib", "ipywidgets", "anywidget", "cupy", "llvmlite", "IPython", "tqdm")
    script = f"import sys, gemm_lab; print([name for name in {heavy} if name in sys.modules])"
    assert run_elsewhere(installed, "-c", script).strip() == "[]"
