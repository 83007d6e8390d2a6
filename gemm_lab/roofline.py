"""The roofline of a GEMM: which ceiling of a GPU a kernel meets first.

S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore architectures",
CACM 52(4), 2009: a program of intensity I (FLOP per byte of memory traffic) runs at most at min(peak, I x bandwidth).
The bytes must be those that this very memory moves, so each count is paired here with the memory that serves it:

DRAM              every matrix once. No kernel moves less if the matrices start in DRAM: a ceiling
L2                the sectors requested. Those that L1 catches never reach L2: an upper bound of the bytes, no ceiling
load/store pipe   the words of all threads. Wide loads of one word for a whole warp pass in fewer wavefronts than their
                  bytes would fill: no ceiling. What the pipe does limit is wavefronts, `w` for each warp-FMA: the
                  course's one law, a ceiling

Pairing the words of all threads with DRAM is the classical mistake: it "proves" limits that real kernels exceed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from gemm_lab.arguments import checked_kernel, checked_sizes
from gemm_lab.counts import SECTOR_BYTES, WORD_BYTES, Counts
from gemm_lab.hardware import Gpu, find_gpu
from gemm_lab.run import Run
from gemm_lab.tables import html_table

FP32, DRAM, L2, PIPE = "FP32 peak", "DRAM", "L2", "load/store pipe"


def gemm_flops(M: int, N: int, K: int) -> int:
    """2MNK: a multiplication and an addition for each term of each element of C."""
    M, N, K = checked_sizes(M, N, K)
    return 2 * M * N * K


def matrix_bytes(M: int, N: int, K: int, beta: float = 0.0) -> int:
    """Bytes of A and B read and C written once each; with beta not 0, C is read as well."""
    M, N, K = checked_sizes(M, N, K)
    return WORD_BYTES * (M * K + K * N + M * N * (2 if beta else 1))


def ideal_intensity(N: int) -> float:
    """N/6 FLOP/byte: 2N^3 FLOP for three N x N matrices of 4-byte floats, each moved once."""
    return gemm_flops(N, N, N) / matrix_bytes(N, N, N)


def ridge_size(gpu: str | Gpu) -> float:
    """The N from which an N x N x N GEMM is bound by arithmetic, if every matrix moves once: 6 x ridge."""
    return 6 * find_gpu(gpu).ridge


@dataclass(frozen=True)
class Traffic:
    """Bytes and the memory that serves them. `gbs`: what that memory delivers at best, None if nobody published it."""

    memory: str
    what: str
    bytes: int
    gbs: float | None
    flops: int
    is_ceiling: bool

    @property
    def intensity(self) -> float:
        """FLOP per byte of this traffic."""
        return self.flops / self.bytes

    @property
    def tflops(self) -> float | None:
        """The speed at which these bytes would keep this memory busy. A bound only if `is_ceiling`."""
        return None if self.gbs is None else self.intensity * self.gbs / 1000


@dataclass(frozen=True)
class Roofline:
    """The ceilings of one GEMM on one GPU. Nothing here is measured: a kernel may stay far below its lowest ceiling.

    counts   the kernel's counts as far as they are known
    w        load/store wavefronts per warp-FMA, None if unknown
    traffic  bytes paired with the memory that serves them
    """

    kernel: str
    M: int
    N: int
    K: int
    gpu: Gpu = field(repr=False)
    counts: Counts = field(repr=False)
    w: float | None
    traffic: tuple[Traffic, ...] = field(repr=False)

    @property
    def flops(self) -> int:
        """2MNK, whatever the kernel executes besides."""
        return gemm_flops(self.M, self.N, self.K)

    @property
    def bytes(self) -> dict[str, int]:
        """Memory -> the bytes paired with it."""
        return {t.memory: t.bytes for t in self.traffic}

    @property
    def intensities(self) -> dict[str, float]:
        """Memory -> FLOP per byte of its own traffic."""
        return {t.memory: t.intensity for t in self.traffic}

    @property
    def bounds_tflops(self) -> dict[str, float]:
        """Ceiling -> TFLOPS that no kernel with these counts can pass at boost clock, its matrices starting in DRAM.

        Beyond Hopper the load/store pipe's rate is less certain: see `gpu.pipe_evidence`.
        """
        bounds = {FP32: self.gpu.peak_fp32_tflops} | {t.memory: t.tflops for t in self.traffic if t.is_ceiling}
        return bounds | ({PIPE: self.gpu.lsu_tflops_cap(self.w)} if self.w else {})

    @property
    def binding(self) -> str:
        """The lowest ceiling."""
        return min(self.bounds_tflops, key=self.bounds_tflops.get)

    @property
    def attainable_tflops(self) -> float:
        """The height of the lowest ceiling."""
        return self.bounds_tflops[self.binding]

    def __repr__(self) -> str:
        lines = [f"{self.kernel}, {self.M} x {self.N} x {self.K} on {self.gpu.name}: {self.flops / 1e9:.4g} GFLOP"]
        lines += [f"  {name:<16} {tflops:>7.4g} TFLOPS  {why}".rstrip() for name, tflops, why in self._rows()]
        return "\n".join([*lines, f"  binding: {self.binding}"])

    def _repr_html_(self) -> str:
        rows = [(name, f"{tflops:.4g}", why, "binding" if name == self.binding else "")
                for name, tflops, why in self._rows()]
        return html_table(("ceiling", "TFLOPS", "why", ""), rows, repr(self).splitlines()[0])

    def _rows(self) -> list[tuple[str, float, str]]:
        gpu = self.gpu
        why = {t.memory: f"{t.bytes / 1e6:.4g} MB ({t.what}), {t.intensity:.4g} FLOP/B" for t in self.traffic}
        why[FP32] = f"{gpu.sms} SMs x {gpu.fp32_lanes_per_sm} lanes at {gpu.boost_mhz} MHz"
        why[PIPE] = f"w = {self.w:.3g} wavefronts per warp-FMA ({gpu.pipe_evidence})" if self.w else ""
        return [(name, tflops, why[name]) for name, tflops in self.bounds_tflops.items()]


def roofline(kernel, M: int, N: int, K: int, gpu: str | Gpu, beta: float = 0.0, run: Run | Counts | None = None,
             w: float | None = None) -> Roofline:
    """The ceilings that a GPU sets for a kernel at one size. Pure arithmetic: nothing is run or compiled.

    Words come from the kernel's closed forms. Sectors and wavefronts are known only from an execution: pass the `run`
    (or its counts) of this kernel at this size. `w` is a recorded hardware value and has precedence. Raises ValueError
    where the run's counts contradict the closed forms: it was another kernel or another size.
    """
    checked_kernel(kernel)
    M, N, K = checked_sizes(M, N, K)
    if w is not None and not w > 0:
        raise ValueError(f"w = {w!r}; the wavefronts per warp-FMA must be more than 0")
    gpu = find_gpu(gpu)
    counts = _joined(kernel.counts(M, N, K, beta), getattr(run, "counts", run) or Counts())
    return Roofline(kernel.label, M, N, K, gpu, counts, _law_w(counts, run) if w is None else w,
                    tuple(_traffic(gemm_flops(M, N, K), matrix_bytes(M, N, K, beta), counts, gpu)))


def _joined(paper: Counts, counted: Counts) -> Counts:
    """Derived counts, completed by counted ones."""
    pairs = {f.name: (getattr(paper, f.name), getattr(counted, f.name)) for f in fields(Counts)}
    for name, (derived, seen) in pairs.items():
        if None not in (derived, seen) and derived != seen:
            raise ValueError(f"the run has {name} = {seen}, the closed form says {derived}: "
                             "pass a run of this kernel with these M, N, K and beta")
    return Counts(**{name: seen if derived is None else derived for name, (derived, seen) in pairs.items()})


def _law_w(counts: Counts, run: Run | Counts | None) -> float | None:
    """w by counting. Distinct lines of global memory are an upper bound of its wavefronts, so this w may be too high.

    None where some shared wavefronts are those of the PTX, before ptxas merged loads.
    """
    return None if getattr(run, "ptx_lines", ()) else counts.wavefronts_per_warp_fma


def _traffic(flops: int, compulsory: int, counts: Counts, gpu: Gpu):
    yield Traffic(DRAM, "every matrix once", compulsory, gpu.dram_gbs, flops, is_ceiling=True)
    sectors = _total(counts.global_load_sectors, counts.global_store_sectors)
    if sectors:
        yield Traffic(L2, "sectors requested, as if L1 caught none", SECTOR_BYTES * sectors, gpu.l2_gbs, flops, False)
    words = _total(*(getattr(counts, f"{space}_{way}_words") for space in ("global", "shared", "local")
                     for way in ("load", "store")))
    if words:
        yield Traffic(PIPE, "words of all threads", WORD_BYTES * words, gpu.pipe_gbs, flops, False)


def _total(*parts: int | None) -> int | None:
    return None if None in parts else sum(parts)
