"""Pictures of a lesson in JupyterLab, for review: python -m tools.screenshots 01 --theme dark --out pictures

Runs the lesson (or with --stored shows the outputs in the file), then writes the whole of it as PNG files of one window
height each.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tools.lab_browser import Lesson, lab
from tools.lessons import ROOT, find_lesson, lessons


def main(words: list[str] | None = None) -> int | str:
    """The command line: returns 0, or what went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__.split("\n")[0])
    parser.add_argument("lesson", help="number, name or path of a notebook")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--out", type=Path, help="folder for the pictures (default: a new one)")
    parser.add_argument("--stored", action="store_true", help="do not run the lesson first")
    parser.add_argument("--size", default="1280x1600", help="of the window, in pixels (default: 1280x1600)")
    options = parser.parse_args(words)
    path = Path(options.lesson)
    if not path.is_file():
        known = {p.name: p for p in lessons(ROOT)}
        path = known[find_lesson(options.lesson, tuple(known))]
    folder = options.out or Path(tempfile.mkdtemp(prefix="gemm-lab-pictures-"))
    folder.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        return "no browser: install chromium (Debian: sudo apt-get install chromium)"
    size = tuple(int(n) for n in options.size.split("x"))
    with lab(path.parent, chromium, options.theme == "dark", size) as browser, browser.lesson(path.name) as lesson:
        problem = None if options.stored else run(lesson)
        lesson.page.wait_for_timeout(1000)
        for picture in lesson.screenshots(folder, f"{path.stem}-{options.theme}"):
            print(picture)
    return problem or 0


def run(lesson: Lesson) -> str | None:
    """Run the lesson; a problem is returned as text, so that its pictures are taken all the same."""
    try:
        lesson.run_all()
    except (RuntimeError, TimeoutError) as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main())
