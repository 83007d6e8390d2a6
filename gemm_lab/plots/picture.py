"""A figure together with the sentence that says what it shows."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from io import BytesIO
from math import inf
from pathlib import Path

import matplotlib as mpl
from matplotlib import ticker
from matplotlib.figure import Figure
from PIL import Image

PIXELS_PER_INCH = 96    # of a screen; the image has twice as many, for sharp letters
COLORS = 128            # in the image's palette: a third of the bytes, and a lesson is stored with its figures
INK = "#222222"
GRID = "#D9D9D9"

# Black on a white card: legible in a light and in a dark notebook alike.
RC = {"font.family": "DejaVu Sans", "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "legend.fontsize": 9,
      "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white", "text.color": INK,
      "axes.edgecolor": "#888888", "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
      "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID,
      "grid.linewidth": 0.8, "axes.axisbelow": True, "lines.linewidth": 2, "lines.markersize": 7,
      "svg.hashsalt": "gemm-lab"}

drawn = mpl.rc_context(RC)    # a decorator: the function draws in the course's style


@dataclass(frozen=True, repr=False)
class Picture:
    """A Matplotlib `figure` and its one-sentence `alt_text`, which a notebook shows below it.

    As text a picture is its sentence: that is what a screen reader gets, and what the tests of a lesson compare.
    """

    figure: Figure
    alt_text: str

    def __post_init__(self):
        self.figure.alt_text = self.alt_text

    def __repr__(self) -> str:
        return self.alt_text

    @property
    def png(self) -> bytes:
        """The figure as PNG, at twice the resolution of a screen."""
        full, small = BytesIO(), BytesIO()
        self.save(full, format="png", dpi=2 * PIXELS_PER_INCH)
        # Maximum coverage keeps rare colours: a single small marker may be all there is of one.
        picture = Image.open(full).convert("RGB").quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        picture.save(small, format="png", optimize=True)
        return small.getvalue()

    @drawn
    def save(self, file: str | Path | BytesIO, **options) -> None:
        """Write the figure to a file, whose ending says the format. `options` are those of Matplotlib's `savefig`."""
        self.figure.savefig(file, **options)

    def _ipython_display_(self) -> None:
        """The image, then its sentence as text that follows the notebook's theme."""
        from IPython.display import display
        width, height = (round(PIXELS_PER_INCH * inches) for inches in self.figure.get_size_inches())
        display({"image/png": b64encode(self.png).decode(), "text/plain": self.alt_text}, raw=True,
                metadata={"image/png": {"width": width, "height": height}})
        display({"text/html": f"<p>{escape(self.alt_text)}</p>", "text/plain": self.alt_text}, raw=True)


def axes(width: float, height: float, columns: int = 1, **options) -> tuple[Figure, list]:
    """A new figure of that many inches, and its axes side by side. It never enters pyplot's list of figures."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return figure, list(figure.subplots(1, columns, squeeze=False, **options)[0])


def plain_log(axis, dense: bool = False) -> None:
    """Numbers such as 0.5, 1, 20 on a logarithmic axis instead of powers of ten. `dense`: at 1, 2 and 5."""
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if dense else (1,), numticks=20 if dense else 6))
    axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.10g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def spread(values: Iterable[float], gap: float, low: float = -inf, high: float = inf) -> list[float]:
    """Positions near `values`, in the same order, at least `gap` apart, from `low` on and if they fit up to `high`.

    That is where labels go. Neighbours that have to be moved are spaced evenly around their mean.
    """
    values = list(values)

    def even(group: list[int]) -> list[float]:
        half = gap * (len(group) - 1) / 2
        middle = max(low + half, min(high - half, sum(values[n] for n in group) / len(group)))
        return [middle - half + gap * n for n in range(len(group))]

    groups: list[list[int]] = []
    for index in sorted(range(len(values)), key=values.__getitem__):
        groups.append([index])
        while len(groups) > 1 and even(groups[-1])[0] - even(groups[-2])[-1] < gap:
            last = groups.pop()
            groups[-1] += last
    places = dict(pair for group in groups for pair in zip(group, even(group)))
    return [places[n] for n in range(len(values))]


def two_lines(label: str) -> str:
    """A kernel's label with its parameters on a second line."""
    name, bracket, parameters = label.partition("(")
    return f"{name}\n{bracket}{parameters}" if len(label) > 28 and bracket else label


def as_list(kernels) -> list:
    """One kernel or several, as a list."""
    return list(kernels) if isinstance(kernels, list | tuple | set) else [kernels]
