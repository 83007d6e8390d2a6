"""Every lesson in JupyterLab, in a browser, as a student runs it: open, Run All, look.

The pictures go to a temporary folder, or to the one that the variable GEMM_LAB_PICTURES names.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.lessons import lessons

HARMLESS = ()  # messages on the console that are JupyterLab's own


@pytest.mark.parametrize("name", [path.name for path in lessons()])
def test_a_lesson_runs_in_the_browser(jupyterlab, name, tmp_path):
    with jupyterlab.lesson(name) as lesson:
        lesson.run_all()
        assert lesson.failed() == []
        pictures = lesson.screenshots(Path(os.environ.get("GEMM_LAB_PICTURES", tmp_path)), Path(name).stem)
        assert all(picture.stat().st_size > 5000 for picture in pictures)
        assert lesson.broken_widgets() == []
        assert [text for text in lesson.complaints if not text.startswith(HARMLESS)] == []
        assert lesson.outside == [], "a lesson works offline"
