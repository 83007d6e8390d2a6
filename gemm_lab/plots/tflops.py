"""TFLOPS over problem size: every kernel's curve, cuBLAS, and the peak."""

from __future__ import annotations

from math import log10

from gemm_lab import palette
from gemm_lab.plots.picture import Picture, as_list, axes, drawn, plain_log, spread, two_lines
from gemm_lab.records.timings import Measurements, label_of

GAP = 0.066      # between labels at the curves' ends, as a part of the axis


def curves(measurements, kernels=None) -> dict[str, list[tuple[int, float]]]:
    """label -> (N, TFLOPS) of square problems, by size; cuBLAS is always among them.

    `kernels`: kernels or labels to keep. ValueError for one that was not measured.
    """
    if not isinstance(measurements, Measurements):
        raise ValueError(f"measurements is a {type(measurements).__name__}; it must be what gl.recorded(...) or "
                         "gl.benchmark(...) gives")
    wanted = None if kernels is None else [label_of(k) for k in as_list(kernels)]
    found: dict[str, list[tuple[int, float]]] = {}
    for row in measurements.rows:
        if row.M == row.N == row.K:
            found.setdefault(row.kernel, []).append((row.N, row.tflops))
    if missing := [label for label in wanted or () if label not in found]:
        raise ValueError(f"{missing[0]} was not measured on square problems; measured were "
                         f"{', '.join(found) or 'none'}")
    return {label: sorted(points) for label, points in found.items()
            if wanted is None or label in wanted or label == "cuBLAS"}


@drawn
def plot_tflops(measurements, kernels=None) -> Picture:
    """TFLOPS of square problems over their size on two log axes, with the device's FP32 peak; see `curves`."""
    lines = curves(measurements, kernels)
    if not lines:
        raise ValueError(f"no square problems among the measurements on {measurements.device}; nothing to draw")
    figure, (ax,) = axes(9.6, 4.6 + 0.2 * max(0, len(lines) - 6))
    looks = palette.styles(lines)
    for label, points in lines.items():
        look = looks[label]
        ax.plot(*zip(*points), color=look.color, marker=look.marker, markersize=look.size, linestyle=look.line,
                label=label, markeredgecolor="white", markeredgewidth=0.8, clip_on=False, zorder=3)
    peak = measurements.peak_tflops
    if peak:
        ax.axhline(peak, color=palette.ARITHMETIC, linewidth=2, zorder=1)
    _scales(ax, lines, peak)
    _end_labels(ax, lines, looks, peak)
    ax.set_title(f"{measurements.device}, measured on {measurements.date}", loc="left")
    return Picture(figure, _sentence(lines, measurements, peak))


def _scales(ax, lines, peak: float | None) -> None:
    sizes = sorted({n for points in lines.values() for n, _ in points})
    values = [t for points in lines.values() for _, t in points] + ([peak] if peak else [])
    ax.set(xscale="log", yscale="log", xlabel="M = N = K", ylabel="TFLOPS",
           ylim=(min(values) / 1.3, max(values) * 1.35), xlim=(sizes[0] / 1.15, sizes[-1] * 1.05))
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.set_xticks([], minor=True)
    plain_log(ax.yaxis, dense=True)


def _end_labels(ax, lines, looks, peak: float | None) -> None:
    """Each curve's name at its right end, moved apart where they would overlap."""
    ends = {label: points[-1] for label, points in lines.items()}
    heights = {label: y for label, (_, y) in ends.items()} | ({f"FP32 peak, {peak:.1f}": peak} if peak else {})
    low, high = map(log10, ax.get_ylim())
    places = spread([(log10(y) - low) / (high - low) for y in heights.values()], GAP, 0, 1)
    for (label, y), place in zip(heights.items(), places):
        color = looks[label].color if label in looks else palette.ARITHMETIC
        x = ends[label][0] if label in ends else ax.get_xlim()[1]
        ax.annotate(two_lines(label), (x, y), xytext=(1.05, place), textcoords="axes fraction", va="center",
                    fontsize=8.5, linespacing=1.0, annotation_clip=False,
                    arrowprops={"arrowstyle": "-", "color": color, "linewidth": 1.2, "relpos": (0, 0.5)})


def _sentence(lines, measurements, peak: float | None) -> str:
    last = max(n for points in lines.values() for n, _ in points)
    at = {label: dict(points)[last] for label, points in lines.items() if last in dict(points)}
    best = at.get("cuBLAS")
    parts = [f"{label} {t:.3g}" + (f" ({100 * t / best:.1f} % of cuBLAS)" if best and label != "cuBLAS" else "")
             for label, t in sorted(at.items(), key=lambda pair: -pair[1])]
    ceiling = f", of {peak:.1f} at the FP32 peak" if peak else ""
    return (f"TFLOPS on {measurements.device} ({measurements.date}) for M = N = K = {last}{ceiling}: "
            f"{', '.join(parts)}; the curves begin at {min(n for points in lines.values() for n, _ in points)}.")
