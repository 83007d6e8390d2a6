"""Which kernel and which tile for which problem: what was measured, and where nothing was, an estimate.

The estimate counts rounds. Blocks are dealt to the SMs; an SM that holds w warps multiplies at a rate E * w / (w + h)
of its peak: full speed needs warps that hide each other's waiting. Whole tiles that start together with more pieces
of shared ones than there are SMs are dealt unevenly, and some SM gets one more (`benchmarks/dealing.py`): of 132 beside
148 pieces 8 SMs of an H200 got two and 8 none, beside 48 pieces each got one. E and h are fitted to an H200's times for
each candidate; on the same 17 problems the choice by the estimate was 0.4 % slower in the mean than the fastest
candidate, 2.9 % at worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gemm_lab.arguments import checked_sizes
from gemm_lab.counts import WARP
from gemm_lab.gpu_facts import Gpu
from gemm_lab.hardware import find_gpu
from gemm_lab.kernels import GemmKernel
from gemm_lab.ladder import Reordering, SlicedK, SplitK
from gemm_lab.records import recorded

LAUNCH_US = 4.0          # launching a kernel, filling its pipeline, storing C
JOINING_US = 3.0         # the last of the blocks that share a tile waits for the others' sums
L2_BYTES_PER_US = 3e6    # at which these sums are written and read


@dataclass(frozen=True)
class Candidate:
    """A kernel, the fraction E of the FP32 peak that it tends to, and h, the warps at which it reaches half of that."""

    kernel: Reordering | SlicedK | SplitK
    limit: float
    half: float

    def rate(self, blocks: int) -> float:
        """Fraction of an SM's peak with so many blocks of the kernel to run, of which BLOCKS fit on it."""
        warps = min(blocks, self.kernel.BLOCKS) * self.kernel.threads / WARP
        return self.limit * warps / (warps + self.half)

    def rounds(self, blocks: int, length: int, gpu: Gpu) -> float:
        """Microseconds for blocks that each compute BM x BN elements over `length` values of k."""
        block_us = self.kernel.BM * self.kernel.BN * length * 2 * gpu.sms / gpu.peak_fp32_tflops / 1e6
        each = blocks / gpu.sms
        full = each // self.kernel.BLOCKS * self.kernel.BLOCKS
        rest = math.ceil(each - full)
        return (full / self.rate(self.kernel.BLOCKS) + (rest / self.rate(rest) if rest else 0)) * block_us

    def estimate_us(self, M: int, N: int, K: int, gpu: Gpu) -> float:
        """Microseconds for C (M, N) = A (M, K) * B (K, N) on a GPU; infinite where the kernel cannot do it."""
        try:
            blocks = math.prod(self.kernel.launch_grid(M, N))
        except ValueError:
            return math.inf
        splits = getattr(self.kernel, "SPLITS", 1)
        shared = self.kernel.shared_tiles(M, N) if splits > 1 else 0
        whole = blocks - shared * splits
        if not shared:
            return LAUNCH_US + self.rounds(whole, K, gpu)
        joining = JOINING_US + shared * splits * self.kernel.BM * self.kernel.BN * 8 / L2_BYTES_PER_US
        if not whole:
            return LAUNCH_US + joining + self.rounds(shared * splits, math.ceil(K / splits), gpu)
        if whole < gpu.sms * self.kernel.BLOCKS and shared * splits > gpu.sms:    # some SMs get a whole tile too many
            return LAUNCH_US + joining + self.rounds(whole + gpu.sms, K, gpu)
        even = (whole + shared) / gpu.sms + 0.5 / splits    # pieces fill the gaps that whole tiles leave
        return LAUNCH_US + joining + self.rounds(gpu.sms * self.kernel.BLOCKS, K, gpu) * even / self.kernel.BLOCKS


CANDIDATES = (
    Candidate(SlicedK(32, 64, 32, 8, 4, STAGES=3, SLICES=4, BLOCKS=2, DOWN=False), 0.63, 0.75),
    Candidate(SlicedK(64, 64, 32, 8, 8, STAGES=2, SLICES=4, BLOCKS=2, DOWN=True), 0.82, 3.0),
    Candidate(SlicedK(64, 128, 8, 16, 8, STAGES=4, SLICES=2, BLOCKS=1, DOWN=True), 1.16, 2.75),
    Candidate(SlicedK(128, 128, 16, 8, 8, STAGES=2, SLICES=2, BLOCKS=1, DOWN=True), 1.00, 5.0),
    Candidate(Reordering(64, 256, 8, 16, 8, STAGES=4, BLOCKS=2, ORDER=1), 1.25, 4.75),
    Candidate(Reordering(96, 128, 16, 12, 8, STAGES=2, BLOCKS=3, ORDER=2), 0.85, 1.0),
    Candidate(Reordering(64, 128, 16, 8, 8, STAGES=2, BLOCKS=4, ORDER=1), 0.82, 1.25),
    Candidate(SplitK(64, 128, 24, 8, 8, STAGES=2, SPLITS=4, BLOCKS=4, DOWN=True, share=132), 0.98, 4.25),
    Candidate(SplitK(64, 128, 16, 8, 8, STAGES=2, SPLITS=4, BLOCKS=4, DOWN=False, share=132), 0.92, 2.75),
    *(Candidate(SplitK(64, 128, 16, 8, 8, STAGES=2, SPLITS=splits, BLOCKS=4, DOWN=False), 0.92, 1.75)
      for splits in (2, 3, 4, 6)),
    Candidate(SplitK(64, 128, 16, 8, 4, STAGES=2, SPLITS=8, BLOCKS=2, DOWN=True), 0.91, 2.75),
)


def best(M: int, N: int, K: int, gpu: str | Gpu = "H200") -> GemmKernel:
    """The course's fastest kernel for C (M, N) = A (M, K) * B (K, N): the winner of a shipped tuning record of this GPU
    that has this very size and the present source, else the candidate with the shortest estimated time.

    ValueError for sizes that are none, or for a GPU that is not in `gl.gpus`.
    """
    size, gpu = checked_sizes(M, N, K), find_gpu(gpu)
    several = candidates(gpu)
    measured = _winner(size, gpu.name, [candidate.kernel for candidate in several])
    return measured or min(several, key=lambda candidate: candidate.estimate_us(*size, gpu)).kernel


def candidates(gpu: Gpu) -> tuple[Candidate, ...]:
    """The candidates for a GPU: whole rounds of blocks are one block for each of its SMs."""
    return tuple(replace(c, kernel=replace(c.kernel, share=gpu.sms)) if getattr(c.kernel, "share", 0) else c
                 for c in CANDIDATES)


def _winner(size: tuple[int, int, int], gpu: str, kernels: list[GemmKernel]) -> GemmKernel | None:
    """The kernel that was the fastest at a size by the shipped tuning record; None if that says nothing about it."""
    try:
        record = recorded(gpu, "tuning").select(kernels, size)
    except ValueError:
        return None
    stale = record.stale(kernels)
    rows = {row.kernel: row.median_ms for row in record.rows if row.kernel not in stale}
    return min((k for k in kernels if k.label in rows), key=lambda k: rows[k.label], default=None)
