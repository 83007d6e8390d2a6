"""All guesses against the truth."""

from __future__ import annotations

from textwrap import fill

from gemm_lab import palette
from gemm_lab.guesses import Comparison, guesses, off_by, shown
from gemm_lab.plots.picture import INK, Picture, axes, drawn, plain_log

NEAR = 2    # "within a factor of 2" is a good guess


@drawn
def plot_guesses(lesson: str | None = None) -> Picture:
    """Every compared guess as guess / truth on a log axis, words as right or not; works without any guess, too."""
    asked = guesses(lesson)
    answered = [g for g in asked if isinstance(g, Comparison) and g.guess.value is not None]
    if not answered:
        return _nothing(len(asked))
    figure, (ax,) = axes(9.2, 1.3 + 0.45 * len(answered))
    ax.set_xscale("log")
    ax.axvspan(1 / NEAR, NEAR, color="#EEEEEE", zorder=0)
    ax.axvline(1, color=INK, linewidth=1.5)
    ratios = [c.ratio for c in answered if c.ratio]
    reach = max([4, *(max(r, 1 / r) for r in ratios)])
    ax.set_xlim(1 / reach**1.12, reach**1.12)
    for row, comparison in enumerate(answered):
        _lollipop(ax, row, comparison)
    _labels(ax, answered)
    return Picture(figure, _sentence(answered, len(asked)))


def _lollipop(ax, row: int, c: Comparison) -> None:
    ax.text(1.02, row, f"you {shown(c.guess.value)}, {c.how} {shown(c.actual)}", transform=ax.get_yaxis_transform(),
            va="center", fontsize=9)
    if c.ratio is None:
        return
    marker, fill = ("o", palette.GLOBAL) if 1 / NEAR <= c.ratio <= NEAR else ("D", "white")
    ax.plot([1, c.ratio], [row, row], color=palette.GLOBAL, linewidth=2.2, solid_capstyle="butt")
    ax.plot(c.ratio, row, marker=marker, color=palette.GLOBAL, markerfacecolor=fill, markersize=8, markeredgewidth=2,
            clip_on=False, zorder=3)


def _labels(ax, answered: list[Comparison]) -> None:
    ax.set_yticks(range(len(answered)), [fill(c.label, 40) for c in answered])
    ax.set_ylim(len(answered) - 0.4, -0.6)
    ax.set_xlabel(f"guess / truth (grey: within a factor of {NEAR})")
    ax.grid(axis="y", visible=False)
    plain_log(ax.xaxis, dense=max(ax.get_xlim()) < 30)


def _nothing(asked: int) -> Picture:
    sentence = f"No guesses yet: {asked} asked." if asked else "No guesses yet."
    figure, (ax,) = axes(5, 0.7)
    ax.set_axis_off()
    ax.text(0.5, 0.5, sentence, ha="center", va="center", transform=ax.transAxes)
    return Picture(figure, sentence)


def _sentence(answered: list[Comparison], asked: int) -> str:
    ratios = {c.label: c.ratio for c in answered if c.ratio}
    near = sum(1 / NEAR <= r <= NEAR for r in ratios.values())
    parts = [f"{len(answered)} of {asked} guesses made"]
    if ratios:
        far = max(ratios, key=lambda label: max(ratios[label], 1 / ratios[label]))
        parts += [f"{near} of {len(ratios)} numbers within a factor of {NEAR}",
                  f"the furthest, {far}: {off_by(ratios[far])}"]
    if words := [c for c in answered if c.ratio is None]:
        parts += [f"{sum(c.verdict in ('as you said', 'exactly right') for c in words)} of {len(words)} others right"]
    return "; ".join(parts) + "."
