"""What all tests share: what a machine may lack, and that CI may lack nothing but a GPU.

On a student's machine a test that needs a compiler, a browser or another program which is not there is skipped with one
line that says what to install. With the variable CI set, every skip is a failure, except that of a test marked `gpu`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")

PROGRAMS = {  # fixture -> names of the program, and what brings it
    "chromium": (("chromium", "chromium-browser", "google-chrome"), "Debian: sudo apt-get install chromium"),
    "node": (("node", "nodejs"), "Debian: sudo apt-get install nodejs"),
    "git": (("git",), "Debian: sudo apt-get install git"),
    "bubblewrap": (("bwrap",), "Debian: sudo apt-get install bubblewrap"),
}


def program(name: str) -> str:
    """The path of an installed program of PROGRAMS; without it the calling test is skipped."""
    names, cure = PROGRAMS[name]
    found = next(filter(None, map(shutil.which, names)), None)
    return found or pytest.skip(f"{name} is not installed ({cure})")


@pytest.fixture(scope="session")
def chromium() -> str:
    return program("chromium")


@pytest.fixture(scope="session")
def node() -> str:
    return program("node")


@pytest.fixture(scope="session")
def git() -> str:
    return program("git")


@pytest.fixture(scope="session")
def bubblewrap() -> str:
    return program("bubblewrap")


def changed_lessons() -> list[str]:
    """The notebooks that differ from the last commit, as the tests call them ("exercises-02_shared_tiling" for one in a
    folder): a student has worked in them. In CI none may."""
    if IN_CI or not shutil.which("git"):
        return []
    words = ["git", "-C", str(ROOT), "diff", "--name-only", "HEAD", "--", "notebooks"]
    listed = subprocess.run(words, capture_output=True, text=True).stdout.split()
    return ["-".join(Path(name).relative_to("notebooks").with_suffix("").parts) for name in listed
            if name.endswith(".ipynb")]


def skip_changed_lessons(items) -> None:
    """A lesson that was worked in is not tested: its outputs are the student's."""
    for name in changed_lessons():
        cure = "" if "-" in name else f"; `make reset LESSON={name[:2]}` brings it back and keeps your copy"
        why = f"{name.replace('-', '/')}.ipynb is not as it came{cure} (CI=1 make test tests it as it is)"
        for item in items:
            if item.path == ROOT / "notebooks" / f"{name}.ipynb" or f"[{name}" in item.name:
                item.add_marker(pytest.mark.skip(reason=why))


def pytest_collection_modifyitems(items):
    """Skip tests marked `gpu` where there is none, and lessons that a student has changed."""
    skip_changed_lessons(items)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from gemm_lab import gpu
    if not gpu.available():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"no GPU: {gpu.reason()}"))


class Skips:
    """Which tests count as skipped. A plugin, since hooks of this file would not reach the notebooks."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.excinfo and not IN_CI and call.excinfo.typename == "NoCompiler":
            report.outcome = "skipped"
            report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {call.excinfo.value}")
        if report.skipped and not hasattr(report, "wasxfail") and not item.get_closest_marker("gpu"):
            forbid(report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        report = yield
        if report.skipped:
            forbid(report)
        return report


def forbid(report) -> None:
    """In CI, turn a skip into a failure."""
    if IN_CI:
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"


def pytest_configure(config):
    config.pluginmanager.register(Skips(), "gemm_lab_skips")
