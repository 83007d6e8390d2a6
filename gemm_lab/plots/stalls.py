"""What the warps of a kernel wait for between two instructions."""

from __future__ import annotations

from textwrap import wrap

from gemm_lab import palette
from gemm_lab.plots.picture import INK, Picture, axes, drawn
from gemm_lab.records.stalls import REASONS, Stalls, recorded_stalls

# Reason -> colour of the memory or unit that is waited for, and a hatch, so that no two look alike without colour.
LOOKS = {
    "long_scoreboard": (palette.GLOBAL, ""),
    "short_scoreboard": (palette.SHARED, ""),
    "mio_throttle": (palette.SHARED, "///"),
    "barrier": (palette.LOCAL, "xxx"),
    "dispatch_stall": (palette.REGISTERS, "..."),
    "not_selected": (palette.CUBLAS, ""),
}


@drawn
def plot_stalls(kernels=None, gpu: str = "H200") -> Picture:
    """Cycles that a warp waits between two of its instructions, by reason; a bar for each kernel or label.

    From the record of a GPU, see `gl.recorded_stalls`. None: every kernel that was recorded. ValueError for another.
    """
    stalls = recorded_stalls(gpu)
    if kernels is not None:
        stalls = stalls.select(kernels)
    figure, (ax,) = axes(9.6, 1.6 + 0.55 * len(stalls.rows))
    left = [0.0] * len(stalls.rows)
    for reason, (color, hatch) in LOOKS.items():
        values = [getattr(row, reason) for row in stalls]
        ax.barh(range(len(values)), values, left=left, height=0.6, color=color, hatch=hatch, edgecolor="white",
                linewidth=0.8, label=f"{reason.replace('_', ' ')}: {REASONS[reason]}")
        left = [a + b for a, b in zip(left, values, strict=True)]
    for place, (total, row) in enumerate(zip(left, stalls, strict=True)):
        ax.text(total, place, f"  {row.active_warps:.0f} % of the warps", va="center", fontsize=9, color=INK)
    ax.set_yticks(range(len(left)), [_narrow(row.kernel) for row in stalls], fontsize=8.5)
    ax.set(xlim=(0, max(left) * 1.25), ylim=(len(left) - 0.4, -0.6),
           xlabel="cycles that a warp waits between two of its instructions")
    ax.grid(axis="y", visible=False)
    figure.legend(loc="outside upper left", ncols=2, fontsize=9, frameon=False)
    return Picture(figure, _sentence(stalls))


def _narrow(label: str) -> str:
    """A kernel's label on as many lines as its parameters need."""
    return "\n".join(wrap(label.replace("(", " (", 1), 36, break_on_hyphens=False))


def _sentence(stalls: Stalls) -> str:
    parts = ("; ".join(f"{row.kernel} " + ", ".join(f"{reason.replace('_', ' ')} {getattr(row, reason):.2f}"
                                                    for reason in REASONS) for row in stalls))
    return f"{stalls.caption[0].upper()}{stalls.caption[1:]}: {parts}."
