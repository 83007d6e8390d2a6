"""How many words a kernel reads, against the least that would do."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab import palette
from gemm_lab.arguments import checked_kernels, checked_sizes
from gemm_lab.counting import paper_or_counted
from gemm_lab.plots.picture import INK, Picture, axes, drawn, plain_log, two_lines

WIDE = 20    # a log scale from this ratio on


@dataclass(frozen=True)
class Reads:
    """Words that one kernel reads, related to its outputs and its FMAs."""

    label: str
    per_output: float
    per_fma: float
    shared_per_fma: float


def reads(kernel, M: int, N: int, K: int) -> Reads:
    """Global words per element of C, and global and shared words per FMA, by the closed forms or the emulator."""
    counts = paper_or_counted(kernel, M, N, K)
    return Reads(kernel.label, counts.global_load_words / (M * N), counts.global_loads_per_fma,
                 counts.shared_loads_per_fma or 0.0)


@drawn
def plot_reads(kernels, M: int, N: int, K: int) -> Picture:
    """Words read per output and per FMA, of one kernel or several, beside the minimum: every element of A and B once.

    A bar of global reads begins at that minimum, so that its length is the excess.
    """
    M, N, K = checked_sizes(M, N, K)
    rows = [reads(kernel, M, N, K) for kernel in checked_kernels(kernels)]
    least = (M * K + K * N) / (M * N)
    figure, panels = axes(9.6, 1.6 + 0.46 * len(rows), 3, sharey=True)
    _global_panel(panels[0], [r.per_output for r in rows], least, "global words read per output")
    _global_panel(panels[1], [r.per_fma for r in rows], least / K, "global words read per FMA")
    _shared_panel(panels[2], [r.shared_per_fma for r in rows], "shared words read per FMA")
    panels[0].set_yticks(range(len(rows)), [two_lines(r.label) for r in rows])
    panels[0].set_ylim(-0.5, len(rows) - 0.5)
    panels[0].invert_yaxis()
    figure.suptitle(f"Words read, M = {M}, N = {N}, K = {K}", fontsize=11)
    return Picture(figure, _sentence(rows, least, M, N, K))


def _global_panel(ax, values: list[float], least: float, name: str) -> None:
    bars = ax.barh(range(len(values)), [v - least for v in values], left=least, color=palette.GLOBAL, height=0.55)
    ax.axvline(least, color=INK, linewidth=2, linestyle=":", label="each element once")
    if max(values) / least > WIDE:
        ax.set_xscale("log")
    _finish(ax, bars, values, f"{name}\ndotted: the minimum, {least:.3g}")


def _shared_panel(ax, values: list[float], name: str) -> None:
    bars = ax.barh(range(len(values)), values, color=palette.SHARED, height=0.55)
    _finish(ax, bars, values, name)


def _finish(ax, bars, values: list[float], name: str) -> None:
    ax.bar_label(bars, [f"{v:,.4g}" if v else "none" for v in values], padding=4, fontsize=9)
    low, high = (min(bar.get_x() for bar in bars), max(bar.get_x() + bar.get_width() for bar in bars))
    if ax.get_xscale() == "log":
        ax.set_xlim(low / (high / low) ** 0.08, high * (high / low) ** 0.45)
        plain_log(ax.xaxis)
    else:
        ax.set_xlim(0, max(high * 1.45, 1))
    ax.set_xlabel(name)
    ax.grid(axis="y", visible=False)


def _sentence(rows: list[Reads], least: float, M: int, N: int, K: int) -> str:
    parts = [f"{r.label} reads {r.per_output:,.4g} global words per output "
             f"({r.per_output / least:,.4g} times the minimum) and {r.shared_per_fma:.4g} shared words per FMA"
             for r in rows]
    return f"At M = {M}, N = {N}, K = {K}, where {least:.4g} words per output would do: {'; '.join(parts)}."
