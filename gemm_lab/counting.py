"""The counts of a kernel at a size: from paper where they are derived, from the emulator where not."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gemm_lab.counts import Counts

MOST_FMA = 2**27    # 512^3: what a reader waits for


def paper_or_counted(kernel, M: int, N: int, K: int) -> Counts:
    """The closed forms of a course kernel; any other kernel is run in the emulator."""
    derived = kernel.counts(M, N, K)
    return counted(kernel, M, N, K) if derived.global_load_words is None else derived


def counted(kernel, M: int, N: int, K: int) -> Counts:
    """What the emulator counts for a kernel at M x N x K. ValueError where that takes long, or where the run stops."""
    if M * N * K > MOST_FMA:
        raise ValueError(f"{kernel.label} has no closed forms, and {M} x {N} x {K} is too much to count in the "
                         "emulator; choose at most 512 x 512 x 512: counts per FMA hardly change")
    return _counted(_Key(kernel), M, N, K)


class _Key:
    """A kernel as a key: equal where source, entry and geometry are."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.identity = (kernel.source, kernel.entry, kernel.block, kernel.shared_bytes, kernel.grid(1000, 100))

    def __eq__(self, other):
        return self.identity == other.identity

    def __hash__(self):
        return hash(self.identity)


@lru_cache(maxsize=128)
def _counted(key: _Key, M: int, N: int, K: int) -> Counts:
    A, B = np.zeros((M, K), np.float32), np.zeros((K, N), np.float32)
    run = key.kernel.run(A, B, backend="emulator")
    if not run.completed:
        raise ValueError(f"{key.kernel.label} did not run to its end: {'; '.join(map(str, run.findings))}")
    return run.counts
