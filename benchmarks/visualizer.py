"""How fast the visualizer opens and plays, in JupyterLab under headless Chromium.

    python benchmarks/visualizer.py [--repeat 5]

What the course asks for, on two cores: the default is on the screen within 0.5 s of running its cell (the kernel being
warm), and the median frame of three seconds of play takes at most 17 ms. The last line is the size of a trace of 64
threads and about 2000 steps, which must stay below 2 MB.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

import nbformat

sys.path.insert(0, str(Path(__file__).parent.parent))

from gemm_lab.kernels import RegisterTiling1D  # noqa: E402
from gemm_lab.widgets.watch.scene import play  # noqa: E402
from gemm_lab.widgets.watch.setup import Setup  # noqa: E402
from tools.lab_browser import lab  # noqa: E402

SOURCES = ("import gemm_lab as gl; gl.visualize().run", "gl.visualize()")

OPEN = """async () => {    // milliseconds from running the second cell to the first frame with the new picture
  window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1
  await window.jupyterapp.commands.execute('notebook:clear-cell-output')
  const started = performance.now()
  const painted = new Promise(done => new MutationObserver((_, watcher) => {
    if (!document.querySelector('.gw-stage rect')) return
    watcher.disconnect()
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))
  }).observe(document.body, { childList: true, subtree: true }))
  window.jupyterapp.commands.execute('notebook:run-cell')
  return await painted - started
}"""

PLAY = """async () => {    // the frames of three seconds of play, in milliseconds
  const speed = document.querySelector('.gw select[aria-label=speed]')
  speed.value = '30'
  speed.dispatchEvent(new Event('change'))
  document.querySelector('.gw-play').click()
  const frames = [], started = performance.now()
  for (let last = started; last - started < 3000;) {
    const now = await new Promise(requestAnimationFrame)
    frames.push(now - last)
    last = now
  }
  return frames
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in SOURCES]
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(notebook, Path(folder) / "watch.ipynb")
        with lab(Path(folder), shutil.which("chromium")) as running, running.lesson("watch.ipynb") as lesson:
            lesson.run_all()
            opened = [lesson.page.evaluate(OPEN) for _ in range(options.repeat)]
            frames = lesson.page.evaluate(PLAY)
    print(f"opening: {', '.join(f'{t:.0f}' for t in opened)} ms (median {median(opened):.0f} ms)")
    print(f"playing: {len(frames)} frames in 3 s, median {median(frames):.1f} ms, "
          f"95 % within {sorted(frames)[int(0.95 * len(frames))]:.1f} ms")
    scene = play(Setup(RegisterTiling1D(16, 16, 4, 4), 16, 16, 192))
    print(f"{len(scene.trace)} steps of {scene.trace.threads} threads: {len(scene.payload()['data']) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
