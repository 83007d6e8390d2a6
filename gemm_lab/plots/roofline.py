"""The roofline, with each byte count under the memory that serves it.

S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009. One panel for each memory: a kernel has another
intensity in each, and its speed may only be compared with the roof above that very point.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.lines import Line2D

from gemm_lab import palette
from gemm_lab.arguments import checked_kernels, checked_sizes
from gemm_lab.hardware import Gpu, find_gpu
from gemm_lab.plots.picture import INK, Picture, axes, drawn, plain_log
from gemm_lab.plots.places import Place, bandwidth, place, roof
from gemm_lab.roofline import DRAM, L2, PIPE

PANELS = {DRAM: "every matrix once", L2: "sectors requested: no bound,\nL1 may catch some",
          PIPE: "128 bytes for each wavefront:\nthe one law"}


@drawn
def plot_roofline(kernels, M: int, N: int, K: int, gpu="H200", measurements=None, w: Mapping[str, float] | None = None,
                  show_mistake: bool = False) -> Picture:
    """The roofs of DRAM, L2 and the load/store pipe under the FP32 peak, and where kernels stand below each.

    measurements   timings on this GPU: a filled marker at (intensity, measured TFLOPS). Without one of this size a
                   hollow marker at the roof: a bound, not a speed
    w              label -> load/store wavefronts per warp-FMA, instead of the recorded or counted ones
    show_mistake   also draw the bytes of all threads under DRAM's roof, where they do not belong

    Sectors, and w of kernels without shared memory, are counted in the emulator at 256 x 256 x 256 at most; for other
    kernels w is the recorded hardware counter. ValueError for measurements on another GPU.
    """
    gpu, (M, N, K) = find_gpu(gpu), checked_sizes(M, N, K)
    found = [place(kernel, M, N, K, gpu, measurements, w) for kernel in checked_kernels(kernels)]
    looks = palette.styles(p.label for p in found)
    figure, panels = axes(10.2, 4.4 + 0.22 * len(found), 3, sharey=True)
    for ax, memory in zip(panels, PANELS):
        _panel(ax, memory, gpu, found, looks)
    if show_mistake:
        _mistakes(panels[0], gpu, found, looks)
    lowest = min([gpu.peak_fp32_tflops / 100, *(0.6 * (p.measured or p.roof.attainable_tflops) for p in found)])
    panels[0].set(ylabel="TFLOPS", ylim=(lowest, 2 * gpu.peak_fp32_tflops))
    plain_log(panels[0].yaxis)
    _legend(figure, found, looks)
    figure.suptitle(f"{gpu.name}, M = {M}, N = {N}, K = {K}: filled markers are measured, hollow ones are bounds",
                    fontsize=11)
    return Picture(figure, _sentence(found, gpu, (M, N, K), show_mistake))


def _panel(ax, memory: str, gpu: Gpu, found: list[Place], looks) -> None:
    shown = [p for p in found if memory in p.intensity and bandwidth(memory, gpu)]
    _roof_line(ax, memory, gpu, [p.intensity[memory] for p in shown])
    for p in shown:
        x, look = p.intensity[memory], looks[p.label]
        top = float(roof(memory, gpu, x))
        if p.measured:
            ax.plot([x, x], [p.measured, top], color=look.color, linewidth=1, zorder=2)
        fill, edge = (look.color, "white") if p.measured else ("white", look.color)
        ax.plot(x, p.measured or top, marker=look.marker, color=look.color, linestyle="none", markersize=8, zorder=3,
                markerfacecolor=fill, markeredgecolor=edge, label=p.label)
    gbs = bandwidth(memory, gpu)
    ax.set_title(f"{memory}, " + (f"{gbs / 1000:.3g} TB/s" if gbs else "no published bandwidth"))
    ax.set_xlabel(f"FLOP per byte, {memory}\n{PANELS[memory]}")


def _roof_line(ax, memory: str, gpu: Gpu, intensities: list[float]) -> None:
    gbs = bandwidth(memory, gpu)
    ridge = 1000 * gpu.peak_fp32_tflops / gbs if gbs else 1
    left, right = min([ridge / 30, *intensities]) / 2, max([ridge * 10, *intensities]) * 2
    xs = [left, ridge, right] if gbs else [left, right]
    ax.plot(xs, roof(memory, gpu, xs), color=INK, linestyle="--" if memory == L2 else "-", linewidth=1.8, zorder=1,
            label="roof")
    ax.set(xscale="log", yscale="log", xlim=(left, right))
    plain_log(ax.xaxis)
    ax.annotate(f"FP32 peak {gpu.peak_fp32_tflops:.1f}", (right, gpu.peak_fp32_tflops), xytext=(-3, 4), ha="right",
                textcoords="offset points", fontsize=8.5)


def _mistakes(ax, gpu: Gpu, found: list[Place], looks) -> None:
    """Bytes of all threads under DRAM's roof. A measured point above the roof shows that they do not belong there."""
    for p in (p for p in found if p.mistake):
        y = p.measured or float(roof(DRAM, gpu, p.mistake))
        ax.plot(p.mistake, y, marker="x", color=looks[p.label].color, markersize=9, markeredgewidth=2.5,
                label=f"mistake {p.label}")
    low = min([ax.get_xlim()[0], *(p.mistake / 2 for p in found if p.mistake)])
    ax.set_xlim(low, ax.get_xlim()[1])
    ax.text(0.03, 0.97, "x: bytes of all\nthreads; DRAM does\nnot serve them", transform=ax.transAxes, va="top",
            fontsize=8.5)


def _legend(figure, found: list[Place], looks) -> None:
    handles = [Line2D([], [], marker=looks[p.label].marker, color=looks[p.label].color, linestyle="none")
               for p in found]
    figure.legend(handles, [_summary(p) for p in found], loc="outside lower center", ncols=1, frameon=False)


def _summary(p: Place) -> str:
    w = f"w = {p.roof.w:.3g}, {p.w_from}" if p.roof.w else "w is not known"
    bound = f"at most {p.roof.attainable_tflops:.3g} TFLOPS by the {p.roof.binding} ({w})"
    return f"{p.label}: {bound}, " + (f"measured {p.measured:.3g}" if p.measured else "not measured")


def _sentence(found: list[Place], gpu: Gpu, size: tuple[int, int, int], show_mistake: bool) -> str:
    M, N, K = size
    parts = [_summary(p) for p in found]
    if show_mistake:
        parts += [f"the bytes of all its threads would give {p.label} {float(roof(DRAM, gpu, p.mistake)):.3g} TFLOPS "
                  "under DRAM's roof, but DRAM does not serve them" for p in found if p.mistake]
    return (f"Roofline of {gpu.name} for M = {M}, N = {N}, K = {K}: FP32 peak {gpu.peak_fp32_tflops:.1f} TFLOPS, "
            f"DRAM {gpu.dram_gbs / 1000:.3g} TB/s; {'; '.join(parts)}.")
