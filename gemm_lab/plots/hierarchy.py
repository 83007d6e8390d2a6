"""The memories of a GPU as a picture: a box for what each holds, a band for what it delivers."""

from __future__ import annotations

from matplotlib.colors import to_rgb
from matplotlib.patches import FancyBboxPatch, Rectangle

from gemm_lab import palette
from gemm_lab.hierarchy import Hierarchy, Level, hierarchy
from gemm_lab.plots.picture import INK, Picture, axes, drawn

COLORS = {"registers": palette.REGISTERS, "shared": palette.SHARED, "global": palette.GLOBAL, "fma": palette.ARITHMETIC}
WIDE = 0.60          # the boxes, and the widest band; the rest of the width is for what the bands deliver
THINNEST = 0.0035    # a band that is too narrow to be seen is drawn this wide
BOX, BAND = 1.0, 0.8


@drawn
def plot_hierarchy(gpu="H200") -> Picture:
    """The memories of a GPU (a `Gpu` or its name) from the FMA units down. Bandwidths are to scale, sizes are not."""
    found = hierarchy(gpu)
    height = BOX + len(found.levels) * (BOX + BAND)
    figure, (ax,) = axes(8.2, 0.62 * height)
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(height, -0.05))
    _box(ax, 0, "FMA units", f"{found.gpu.peak_fp32_tflops:.1f} TFLOPS", "fma")
    for number, level in enumerate(found.levels):
        top = BOX + number * (BOX + BAND)
        _band(ax, top, level, band_width(found, level))
        _box(ax, top + BAND, level.name, f"{level.size}: {level.where}", level.space)
    ax.set_title(f"{found.gpu.name}: the width of a band is its bandwidth", loc="left")
    return Picture(figure, found.caption)


def band_width(found: Hierarchy, level: Level) -> float | None:
    """The width of a level's band, as a part of the figure: proportional to its bandwidth. None if that is unknown."""
    widest = max(v.gbs for v in found.levels if v.gbs)
    return None if level.gbs is None else max(THINNEST, WIDE * level.gbs / widest)


def _box(ax, top: float, name: str, words: str, space: str) -> None:
    tint = [0.8 + 0.2 * part for part in to_rgb(COLORS[space])]
    ax.add_patch(FancyBboxPatch((0.006, top + 0.03), WIDE - 0.012, BOX - 0.06, mutation_aspect=12, linewidth=1.8,
                                boxstyle="round,pad=0,rounding_size=0.012", facecolor=tint, edgecolor=COLORS[space]))
    ax.text(WIDE / 2, top + 0.34, name, ha="center", va="center", weight="bold", color=INK)
    ax.text(WIDE / 2, top + 0.70, words, ha="center", va="center", fontsize=9.5, color=INK)


def _band(ax, top: float, level: Level, width: float | None) -> None:
    """The band above a level's box, and to its right what it delivers; dashed where nobody published that."""
    known = {"facecolor": COLORS[level.space], "edgecolor": "none"}
    unknown = {"facecolor": "none", "edgecolor": COLORS[level.space], "linestyle": "--"}
    shown = 0.04 if width is None else width
    ax.add_patch(Rectangle(((WIDE - shown) / 2, top), shown, BAND, **(unknown if width is None else known)))
    ax.text(WIDE + 0.03, top + 0.26, level.speed, va="center", weight="bold", color=INK)
    ax.text(WIDE + 0.03, top + 0.62, level.how, va="center", fontsize=9, color=INK)
