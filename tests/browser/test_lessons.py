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
        for visualizer in lesson.page.locator(".gw").all():
            assert_it_plays(visualizer)
        pictures = lesson.screenshots(Path(os.environ.get("GEMM_LAB_PICTURES", tmp_path)), Path(name).stem)
        assert all(picture.stat().st_size > 5000 for picture in pictures)
        assert lesson.broken_widgets() == []
        assert [text for text in lesson.complaints if not text.startswith(HARMLESS)] == []
        assert lesson.outside == [], "a lesson works offline"


def assert_it_plays(visualizer):
    """By keyboard to the end, where the counts of all blocks are those on paper, and one step back."""
    visualizer.scroll_into_view_if_needed()
    visualizer.focus()
    visualizer.press("End")
    for row in visualizer.locator(".gw-totals tbody tr").all():
        *_, counted, on_paper = row.locator("td").all_inner_texts()
        assert counted == on_paper
    shown = visualizer.locator(".gw-count").inner_text()
    visualizer.press("ArrowLeft")
    assert visualizer.locator(".gw-count").inner_text() != shown
    visualizer.press("Home")
