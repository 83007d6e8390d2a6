"""The browser tests' own eyes: what they must see in a notebook that goes wrong."""

from __future__ import annotations

import nbformat
import pytest

from tools.lab_browser import lab

WIDGET = """
import anywidget
class Broken(anywidget.AnyWidget):
    _esm = "export default { render() { throw new Error('gemm widget broke') } }"
Broken()
"""


@pytest.fixture(scope="module")
def faulty(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("faulty")
    for name, sources in {"error": ["1 / 0", "2"], "widget": [WIDGET],
                          "fine": ["import ipywidgets; ipywidgets.IntSlider(description='tile')"]}.items():
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
        nbformat.write(notebook, folder / f"{name}.ipynb")
    with lab(folder, chromium) as running:
        yield running


def test_an_error_in_a_cell_is_seen(faulty):
    with faulty.lesson("error.ipynb") as lesson:
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            lesson.run_all()


def test_a_broken_widget_is_seen(faulty):
    with faulty.lesson("widget.ipynb") as lesson:
        lesson.run_all()
        lesson.page.wait_for_timeout(1000)
        assert any("gemm widget broke" in text for text in lesson.complaints + lesson.broken_widgets())


def test_a_notebook_that_is_fine_has_no_complaints(faulty, tmp_path):
    with faulty.lesson("fine.ipynb") as lesson:
        lesson.run_all()
        lesson.page.locator(".widget-slider").wait_for()
        assert lesson.complaints == lesson.outside == lesson.failed() == lesson.broken_widgets() == []
        assert len(lesson.screenshots(tmp_path, "fine")) == 1
