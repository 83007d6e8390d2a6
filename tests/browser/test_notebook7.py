"""The visualizer in Notebook 7, which shares JupyterLab's parts but not its window."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from gemm_lab.widgets.watch.scene import inputs
from tools.lab_browser import CHROMIUM, CONNECTED, SECONDS, Lesson, server
from tools.lessons import ROOT

LESSON = "03_register_tiling_1d.ipynb"
NOTEBOOKS_OWN = "Cannot read properties of undefined (reading 'schema')"    # Notebook 7.6 says it of every notebook


@pytest.fixture
def lesson(chromium, tmp_path):
    shutil.copy(ROOT / "notebooks" / LESSON, tmp_path)
    with server(tmp_path, app="notebook") as (base, token), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, chromium_sandbox=False, args=list(CHROMIUM))
        opened = Lesson(browser.new_page(viewport={"width": 1280, "height": 800}), base)
        opened.listen()
        opened.page.goto(f"{base}/notebooks/{LESSON}?token={token}")
        opened.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60 * SECONDS)
        yield opened
        browser.close()


def test_the_visualizer_of_lesson_03_is_driven_by_keys(lesson):
    page = lesson.page
    page.evaluate(CONNECTED, 60 * SECONDS)
    lesson.run_all()
    seen = page.locator(".gw").first
    seen.scroll_into_view_if_needed()
    seen.focus()
    cells = len(lesson.cells())
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowLeft", "Shift+ArrowRight", "d", "d"):
        page.keyboard.press(key)
    assert seen.locator(".gw-phase > div").first.inner_text().startswith("barrier: all 8 threads")
    assert seen.locator(".gw-code .gw-current").inner_text().strip() == "__syncthreads();"
    assert len(lesson.cells()) == cells
    page.keyboard.press("End")
    values = {int(cell.get_attribute("data-n")): float(cell.text_content())
              for cell in seen.locator('[data-name="C"] .gw-value').all() if cell.text_content()}
    A, B = inputs(8, 8, 8)
    assert np.array_equal([values[n] for n in range(64)], (A @ B).reshape(-1))
    seen.locator("summary", has_text="Problem and tiles").click()
    seen.get_by_label("TM", exact=True).fill("2")
    seen.get_by_role("button", name="run").click()
    seen.locator(".gw-name").filter(has_text="TM=2").wait_for()
    assert lesson.failed() == lesson.broken_widgets() == lesson.outside == []
    assert [text for text in lesson.complaints if text != NOTEBOOKS_OWN] == []
