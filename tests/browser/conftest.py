"""One JupyterLab and one browser for the tests of a file, on a copy of the lessons."""

from __future__ import annotations

import pytest

from tools.lab_browser import lab
from tools.lessons import ROOT


@pytest.fixture(scope="module")  # Playwright allows one at a time
def jupyterlab(chromium):
    with lab(ROOT / "notebooks", chromium) as running:
        yield running
