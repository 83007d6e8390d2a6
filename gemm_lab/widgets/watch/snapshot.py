"""One step as a picture (SVG), for places where no JavaScript runs: GitHub's view of a notebook, a printed page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from gemm_lab import palette
from gemm_lab.emulator.tracing.trace import FMA, GLOBAL_LOAD, SHARED_LOAD, Trace
from gemm_lab.kernels import whole
from gemm_lab.views import shorten
from gemm_lab.widgets.watch import words
from gemm_lab.widgets.watch.frame import Panel, panels, telling_step
from gemm_lab.widgets.watch.scene import Scene

INK, EDGE, GROUND = "#1a1a1a", "#b8b8b8", "#ffffff"
COLOURS = {"global": palette.GLOBAL, "shared": palette.SHARED, "C": palette.REGISTERS}
SEEN = 32                                  # rows or columns of an array
WIDTH, PICTURE, TOP, GAP, LINE = 900, 500, 64, 40, 15    # pixels
AROUND = 9                                 # lines of the source above and below the executed one
LEGEND = ("Filled: touched by the followed thread. Pale: by its block. Green frame: its part of C. "
          "Steps are one legal order, not time.")


@dataclass(frozen=True)
class Snapshot:
    """A picture that shows itself. `svg` is its text; `save(path)` writes it to a file."""

    svg: str
    title: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Snapshot({self.title})"

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file ending in .svg; returns its path."""
        path = Path(path)
        if path.suffix != ".svg":
            raise ValueError(f"path is {str(path)!r}; a snapshot is saved as .svg")
        path.write_text(self.svg, encoding="utf-8")
        return path


def snapshot(scene: Scene, step: int | None = None) -> Snapshot:
    """The picture of a step, counted from 0; None: a telling one. ValueError for a step that does not exist."""
    last = len(scene.trace) - 1
    step = telling_step(scene.trace) if step is None else step
    whole("step", step, 0)
    if step > last:
        raise ValueError(f"step is {step}; the last one is {last}")
    title = f"{scene.setup.title}, step {step + 1} of {last + 1}"
    return Snapshot(drawing(scene, step, title), title)


def drawing(scene: Scene, step: int, title: str) -> str:
    """The whole picture: the matrices on the left, words and source on the right."""
    matrices, bottom = picture(panels(scene, step))
    height = max(bottom + 40, TOP + LINE * (2 * AROUND + 1) + 62)
    different, column = words.sentences(scene.trace)
    line = int(scene.trace.steps["line"][step])
    return "".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="{INK}">',
        f"<title>{escape(title)}</title>", f'<rect width="100%" height="100%" fill="{GROUND}"/>',
        text(16, 20, title, weight=600), text(16, 38, different[column[step]] + (f" (line {line})" if line else "")),
        *matrices, listing(scene, line),
        *(text(PICTURE + 24, height - 60 + LINE * n, part, 11) for n, part in enumerate(so_far(scene.trace, step))),
        text(16, height - 12, LEGEND), "</svg>"])


def so_far(trace: Trace, step: int) -> tuple[str, str]:
    """Running totals of the block."""
    kinds, words_ = trace.steps["kind"][:step + 1], trace.steps["words"][:step + 1]
    fma = sum(len(trace.members(s)) for s in np.flatnonzero(kinds == FMA))
    return (f"So far, in this block: {fma:,} FMAs, {words_[kinds == GLOBAL_LOAD].sum():,} words read from global",
            f"memory and {words_[kinds == SHARED_LOAD].sum():,} from shared memory.")


def picture(found: dict[str, Panel]) -> tuple[list[str], int]:
    """B above C, A left of C, the tiles in the corner between them; and where the picture ends."""
    tiles = [panel for panel in found.values() if panel.space == "shared"]
    A, B, C = (found.get(name) for name in "ABC")
    size = max(5, min(22, 440 // (columns(A) + columns(C) + 2), 380 // (rows(B) + rows(C) + 2)))
    room = PICTURE - GAP - columns(C) * size - 16 * len(tiles)
    small = max(4, min(size, room // max(sum(map(columns, tiles)), 1)))
    left = PICTURE - columns(C) * size
    parts, x, y, end = [], 16, TOP, TOP
    for tile in tiles:
        if x > 16 and x + columns(tile) * small > left - 16:
            x, y = 16, end + 28
        parts.append(grid(tile, x, y, small, "shared"))
        x, end = x + columns(tile) * small + 24, max(end, y + rows(tile) * small)
    below = max(TOP + rows(B) * size, end) + GAP
    parts += [grid(B, left, below - GAP - rows(B) * size, size, "global"),
              grid(A, left - 24 - columns(A) * size, below, size, "global"), grid(C, left, below, size, "C")]
    return parts, below + rows(C) * size


def rows(panel: Panel | None) -> int:
    return 0 if panel is None else min(SEEN, panel.values.shape[0])


def columns(panel: Panel | None) -> int:
    return 0 if panel is None else min(SEEN, panel.values.shape[1])


def grid(panel: Panel | None, x: int, y: int, size: int, look: str) -> str:
    """One array as cells. What the followed thread touches is filled, what the block touches is pale."""
    if panel is None:
        return ""
    shape = " x ".join(map(str, panel.values.shape))
    squares: dict[tuple, list[str]] = {}
    numbers = []
    for r in range(rows(panel)):
        for c in range(columns(panel)):
            at, seen = (x + c * size, y + r * size), Cell(panel.mine[r, c], panel.block[r, c], panel.own[r, c],
                                                          float(panel.values[r, c]))
            squares.setdefault(seen.style(COLOURS[look]), []).append(
                f"M{at[0]} {at[1]}h{size - 1}v{size - 1}h{1 - size}z")
            if size >= 11 and np.isfinite(seen.value) and (panel.space == "shared" or seen.marked):
                numbers.append(seen.number(*at, size, COLOURS[look]))
    paths = [f'<path d="{"".join(d)}" fill="{ink}" fill-opacity="{strength}" stroke="{edge}" stroke-width="{width}"/>'
             for (ink, strength, edge, width), d in sorted(squares.items(), key=lambda item: item[0][-1])]
    return "".join([text(x, y - 6, f"{panel.name}  {shape}", 11, 600), *paths, *numbers])


@dataclass(frozen=True)
class Cell:
    """One element: touched by the followed thread, by its block; in the thread's part of C; its value, or NaN."""

    mine: bool
    block: bool
    own: bool
    value: float

    @property
    def marked(self) -> bool:
        return self.mine or self.block or self.own

    def style(self, colour: str) -> tuple:
        """(colour, its strength, colour of the edge, its width)"""
        strength = 1 if self.mine else 0.4 if self.block else 0.12 if np.isfinite(self.value) else 0
        return colour, strength, *((palette.REGISTERS, 2) if self.own else (INK, 1.6) if self.mine else (EDGE, 0.6))

    def number(self, x: int, y: int, size: int, colour: str) -> str:
        ink, shown = "#ffffff" if self.mine and colour == palette.GLOBAL else INK, f"{self.value:g}"
        return f'<text x="{x + (size - 1) / 2:g}" y="{y + size * 0.68:g}" text-anchor="middle" fill="{ink}" ' \
               f'font-size="{min(size * 0.55, size * 1.5 / len(shown)):.1f}">{shown}</text>'


def listing(scene: Scene, line: int) -> str:
    """The source around a line, which is marked."""
    source = scene.setup.executed.source.split("\n")
    first = max(1, min(line - AROUND, len(source) - 2 * AROUND))
    return "".join(listed(n, source[n - 1], TOP + LINE * (n - first), n == line)
                   for n in range(first, min(len(source), first + 2 * AROUND) + 1))


def listed(number: int, code: str, y: int, executed: bool) -> str:
    mark = f'<rect x="{PICTURE + 20}" y="{y - 11}" width="{WIDTH - PICTURE - 28}" height="{LINE}" ' \
           f'fill="{palette.GLOBAL}" fill-opacity="0.2"/>' if executed else ""
    return mark + f'<text x="{PICTURE + 24}" y="{y}" font-family="Menlo, Consolas, monospace" font-size="9" ' \
                  f'xml:space="preserve">{number:>3} {"▶" if executed else " "} {escape(shorten(code, 62))}</text>'


def text(x: int, y: int, content: str, size: int = 12, weight: int = 400) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}">{escape(content)}</text>'
