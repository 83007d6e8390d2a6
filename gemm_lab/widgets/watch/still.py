"""What is left of the visualizer where anywidget is missing: a picture of one step, and the page."""

from __future__ import annotations

from pathlib import Path

from gemm_lab.run import Run
from gemm_lab.widgets.watch import page
from gemm_lab.widgets.watch.scene import Scene
from gemm_lab.widgets.watch.snapshot import Snapshot, snapshot


class Still:
    """Shows one step of each scene, and says what is missing."""

    def __init__(self, scenes: list[Scene], note: str = ""):
        self._scenes, self.note = scenes, note

    @property
    def scene(self) -> Scene:
        """What is watched: the first, if there are several."""
        return self._scenes[0]

    @property
    def run(self) -> Run:
        """The execution: C, counts, findings, trace."""
        return self.scene.run

    def to_html(self, path: str | Path) -> Path:
        """Write a page that plays offline, without a kernel and without any other file; returns its path."""
        return page.write(path, self._scenes)

    def snapshot(self, step: int | None = None) -> Snapshot:
        """The picture of one step (default: a telling one), as SVG."""
        return snapshot(self.scene, step)

    def __repr__(self) -> str:
        lines = [f"Visualizer({s.setup.title}, block {s.trace.block}: {len(s.trace)} steps)" for s in self._scenes]
        return "\n".join([" beside ".join(lines), *([self.note] if self.note else [])])

    def _repr_svg_(self) -> str:
        return self.snapshot().svg
