"""The one law: measured speed against load/store wavefronts for each warp-FMA."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import log10

import numpy as np

from gemm_lab import palette
from gemm_lab.plots.picture import INK, Picture, axes, drawn, plain_log, spread
from gemm_lab.records import size_text

DISTANCE = 1.5    # of a number from the cap or from its point, as a ratio
NEAR = 1.12       # points closer than this ratio share a label


@dataclass(frozen=True)
class Point:
    """A kernel under the law: w wavefronts per warp-FMA, measured TFLOPS, and the cap that w sets."""

    label: str
    w: float
    tflops: float
    cap: float

    @property
    def share(self) -> float:
        """Measured / cap."""
        return self.tflops / self.cap


def points(rows: Iterable, gpu="H200") -> list[Point]:
    """Rows (label, w, tflops), or of `gl.recorded_law`, as points, by w."""
    from gemm_lab.hardware import find_gpu
    cap = find_gpu(gpu).lsu_tflops_cap
    triples = [row if isinstance(row, tuple) else (row.kernel, row.w, row.tflops) for row in _told_apart(rows)]
    for label, w, tflops in triples:
        if not (w > 0 and tflops > 0):
            raise ValueError(f"{label} has w = {w!r} and {tflops!r} TFLOPS; both must be more than 0")
    return sorted((Point(label, w, tflops, cap(w)) for label, w, tflops in triples), key=lambda p: p.w)


def _told_apart(rows: Iterable) -> list:
    """The rows; where one kernel was measured at several sizes, its labels say the size."""
    rows = list(rows)
    often = Counter(row.kernel for row in rows if not isinstance(row, tuple))
    return [row if isinstance(row, tuple) or often[row.kernel] == 1
            else (f"{row.kernel}, {size_text((row.M, row.N, row.K))}", row.w, row.tflops) for row in rows]


@drawn
def plot_law(rows: Iterable, gpu="H200") -> Picture:
    """Measured TFLOPS over w with the cap of the one law, both axes logarithmic; see `points`.

    The points are numbered from left to right, the numbers explained beside the figure.
    """
    from gemm_lab.hardware import find_gpu
    gpu, found = find_gpu(gpu), points(rows, gpu)
    if not found:
        raise ValueError("no rows to draw; give (label, w, tflops) of at least one kernel")
    figure, (ax, key) = axes(10.4, max(4.4, 1.0 + 0.19 * len(found)), 2, width_ratios=(1, 1.1))
    _ceilings(ax, found, gpu)
    looks = palette.styles(p.label for p in found)
    for p in found:
        ax.plot(p.w, p.tflops, marker=looks[p.label].marker, color=looks[p.label].color, linestyle="none",
                markeredgecolor="white", label=p.label, zorder=3)
    _numbers(ax, found)
    ax.set_title(f"The one law on {gpu.name}: at most {gpu.lsu_tflops_cap(1):.2f} / w", loc="left")
    _key(key, found, looks)
    return Picture(figure, _sentence(found, gpu))


def _ceilings(ax, found: list[Point], gpu) -> None:
    left, right = min(p.w for p in found) / 2.4, max(p.w for p in found) * 1.8
    w = np.geomspace(left, right, 50)
    ax.plot(w, gpu.lsu_tflops_cap(1) / w, color=INK, linewidth=1.8, label="cap", zorder=2)
    ax.axhline(gpu.peak_fp32_tflops, color=palette.ARITHMETIC, zorder=1)
    ax.annotate(f"FP32 peak, {gpu.peak_fp32_tflops:.1f}", (right, gpu.peak_fp32_tflops), xytext=(-2, 4),
                textcoords="offset points", ha="right", fontsize=9)
    ax.set(xscale="log", yscale="log", xlim=(left, right),
           xlabel="w: load/store wavefronts per warp-FMA", ylabel="TFLOPS",
           ylim=(min(p.tflops for p in found) / DISTANCE**3, gpu.peak_fp32_tflops * 1.5))
    plain_log(ax.xaxis, dense=True)
    plain_log(ax.yaxis, dense=True)


def clusters(found: list[Point]) -> list[list[int]]:
    """Numbers of points, from 1, that lie next to each other both in w and in TFLOPS: they share a label."""
    groups: list[list[int]] = []
    for number, p in enumerate(found, 1):
        last = found[groups[-1][-1] - 1] if groups else None
        if last and p.w / last.w < NEAR and 1 / NEAR < p.tflops / last.tflops < NEAR:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _numbers(ax, found: list[Point]) -> None:
    """The numbers of the points, in turn above the cap and below it; those far from the cap below."""
    groups = clusters(found)
    below = [n % 2 == 1 or found[group[0] - 1].share < 0.7 for n, group in enumerate(groups)]
    for side in (False, True):
        _row_of_numbers(ax, found, [group for group, low in zip(groups, below) if low == side], side)


def _row_of_numbers(ax, found: list[Point], groups: list[list[int]], below: bool) -> None:
    """Numbers in a row along the cap, moved apart where they would overlap, each tied to its points."""
    left, right = map(log10, ax.get_xlim())
    members = [[found[n - 1] for n in group] for group in groups]
    places = spread([(log10(points[0].w) - left) / (right - left) for points in members], 0.085, 0.04, 0.96)
    for group, points, place in zip(groups, members, places):
        x, cap = 10 ** (left + place * (right - left)), points[0].cap * points[0].w
        nearest = (min if below else max)(points, key=lambda p: p.tflops)
        y = min(nearest.tflops, cap / x) / DISTANCE if below else cap / x * DISTANCE
        ax.annotate("–".join(map(str, dict.fromkeys((group[0], group[-1])))), (nearest.w, nearest.tflops),
                    xytext=(x, y), ha="center", va="center", fontsize=8,
                    arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.7, "shrinkB": 5, "shrinkA": 1})


def _key(ax, found: list[Point], looks) -> None:
    """What the numbers mean: label, w, and the share of its cap that each kernel reaches."""
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(len(found) + 0.5, -0.5))
    rows = [("", "w", "of cap", "kernel")]
    rows += [(n, f"{p.w:.2f}", f"{100 * p.share:.0f} %", p.label) for n, p in enumerate(found, 1)]
    for row, cells in enumerate(rows):
        for x, side, cell in zip((0.04, 0.17, 0.3, 0.32), ("right", "right", "right", "left"), cells):
            ax.text(x, row, str(cell), fontsize=8, va="center", ha=side, weight="normal" if row else "bold")
    for row, p in enumerate(found, 1):
        ax.plot(0.075, row, marker=looks[p.label].marker, color=looks[p.label].color, markersize=5.5)


def _sentence(found: list[Point], gpu) -> str:
    slow, fast = found[-1], max(found, key=lambda p: p.tflops)
    best, worst = max(found, key=lambda p: p.share), min(found, key=lambda p: p.share)
    ends = [f"{p.label} (w = {p.w:.3g}, {p.tflops:.3g} TFLOPS)" for p in (slow, fast)]
    return (f"Measured TFLOPS of {len(found)} kernels against w on {gpu.name}, under the cap "
            f"{gpu.lsu_tflops_cap(1):.2f}/w: from {' to '.join(ends)}; they reach {100 * worst.share:.0f} % "
            f"({worst.label}) to {100 * best.share:.0f} % ({best.label}) of their caps.")
