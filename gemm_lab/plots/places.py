"""Where kernels stand below the roofs: intensities, ceilings and measured speeds, each with its source. No drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gemm_lab.counting import counted
from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, WARP, WORD_BYTES, Counts
from gemm_lab.hardware import Gpu, gpus
from gemm_lab.roofline import DRAM, L2, PIPE, Roofline, gemm_flops, roofline

SMALL = 256    # the size at which sectors and wavefronts are counted: per FMA they hardly change with size


@dataclass(frozen=True)
class Place:
    """Where one kernel stands in the panels.

    intensity   memory -> FLOP per byte that this memory moves; a memory is missing where the count is unknown
    mistake     FLOP per byte that all threads read and write, which no DRAM bandwidth belongs to; None if unknown
    measured    TFLOPS, None without a measurement of this size
    w_from      where the w of `roof` is from
    """

    roof: Roofline
    intensity: Mapping[str, float]
    mistake: float | None
    measured: float | None
    w_from: str

    @property
    def label(self) -> str:
        """The kernel's label."""
        return self.roof.kernel


def place(kernel, M: int, N: int, K: int, gpu: Gpu, measurements=None, w: Mapping[str, float] | None = None) -> Place:
    """A kernel's intensities, ceilings and measured speed."""
    size = tuple(min(n, SMALL) for n in (M, N, K))
    small = _counted(kernel, size)
    known_w, w_from = _known_w(kernel, (M, N, K), gpu, small, w or {})
    ceilings = roofline(kernel, M, N, K, gpu, w=known_w)
    flops = gemm_flops(*size)
    sectors, words = _moved(small, ("global",), "sectors"), _moved(small, ("global", "shared"), "words")
    intensity = {DRAM: ceilings.intensities[DRAM]}
    intensity |= {L2: flops / (SECTOR_BYTES * sectors)} if sectors else {}
    intensity |= {PIPE: 2 * WARP / (LINE_BYTES * known_w)} if known_w else {}
    mistake = flops / (WORD_BYTES * words) if words else None
    return Place(ceilings, intensity, mistake, _measured(kernel, M, N, K, gpu, measurements), w_from)


def _known_w(kernel, size, gpu: Gpu, small: Counts, given: Mapping[str, float]) -> tuple[float | None, str]:
    """w, and in a word where it is from: what was given, recorded at this size, counted, recorded at another size."""
    recorded, there = recorded_w(kernel, gpu), "recorded by ncu"
    sources = ((given.get(kernel.label), "given"), (recorded.get(size), there), (counted_w(small), "counted"),
               (recorded[max(recorded)] if recorded else None, there))
    return next(((w, origin) for w, origin in sources if w), (None, ""))


def _counted(kernel, size: tuple[int, int, int]) -> Counts:
    """The emulator's counts; nothing is known where there is no compiler."""
    from gemm_lab.compiler import NoCompiler
    try:
        return counted(kernel, *size)
    except NoCompiler:
        return Counts()


def _moved(counts: Counts, spaces: tuple[str, ...], kind: str) -> int | None:
    parts = [getattr(counts, f"{space}_{way}_{kind}") for space in spaces for way in ("load", "store")]
    return None if None in parts else sum(parts)


def counted_w(counts: Counts) -> float | None:
    """w by the emulator, for kernels without shared memory only: ptxas widens shared loads after what is emulated."""
    return None if counts.shared_load_wavefronts or counts.shared_store_wavefronts else counts.wavefronts_per_warp_fma


def recorded_w(kernel, gpu: Gpu) -> dict[tuple[int, int, int], float]:
    """Size -> w by the recorded hardware counters, of this kernel's present source with beta = 0."""
    from gemm_lab.records import recorded_counters
    rows = []
    for experiment in ("counters", "wavefronts"):
        try:
            rows += recorded_counters(gpu.name, experiment)
        except ValueError:      # no such record of this GPU ships
            continue
    return {row.size: row.wavefronts_per_warp_fma for row in rows
            if row.kernel == kernel.label and row.beta == 0 and row.wavefronts_per_warp_fma and not row.stale(kernel)}


def _measured(kernel, M: int, N: int, K: int, gpu: Gpu, measurements) -> float | None:
    if measurements is None:
        return None
    if measurements.device not in gpus or gpus[measurements.device] is not gpus[gpu.name]:
        raise ValueError(f"the measurements are of {measurements.device}, the roofline is of {gpu.name}; "
                         "their speeds cannot share a figure")
    return next((r.tflops for r in measurements.rows if (r.kernel, r.M, r.N, r.K) == (kernel.label, M, N, K)), None)


def bandwidth(memory: str, gpu: Gpu) -> float | None:
    """GB/s at best of a memory; None where nobody published it."""
    return {DRAM: gpu.dram_gbs, L2: gpu.l2_gbs, PIPE: gpu.pipe_gbs}[memory]


def roof(memory: str, gpu: Gpu, intensity):
    """TFLOPS that this memory's bandwidth and the FP32 peak allow at an intensity."""
    gbs = bandwidth(memory, gpu)
    slope = np.inf if gbs is None else gbs / 1000
    return np.minimum(gpu.peak_fp32_tflops, slope * np.asarray(intensity))
