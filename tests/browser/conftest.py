"""One JupyterLab and one browser for the tests of a file, on a copy of the lessons."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tools.lab_browser import lab
from tools.lessons import ROOT

# Notebook 7 is none of the packages that `make test` installs; who has it (pip install notebook) tests with it.
collect_ignore = [] if find_spec("notebook") else ["test_notebook7.py"]


@pytest.fixture(scope="module")  # Playwright allows one at a time
def jupyterlab(chromium):
    with lab(ROOT / "notebooks", chromium) as running:
        yield running
