"""What a memory request costs: sectors, cache lines, and passes through the load/store pipe.

A *request* is one load or store instruction of one warp. Addresses come as an integer array with a row of 32 lanes for
each request; lanes that take no part hold -1.

    sectors            distinct 32-byte pieces of global memory: what the L2 cache must deliver
    global wavefronts  distinct 128-byte lines of global memory
    shared wavefronts  passes of a request whose words lie in 32 banks: the rule is `gemm_lab.shared_wavefronts`
    bank conflicts     those of them that no request of this width and these lanes needs

The GPU executes machine code, and ptxas, which makes it, merges shared accesses: `gemm_lab.machine_loads` says which
accesses the machine makes of the PTX's, and these are counted. Global accesses are never merged.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, Counts
from gemm_lab.shared_wavefronts import first_of_its_kind, wavefronts_of_parts


def sectors(rows: np.ndarray) -> int:
    """Distinct sectors of each request, summed."""
    return distinct(rows // SECTOR_BYTES)


def lines(rows: np.ndarray) -> int:
    """Distinct 128-byte lines of each request, summed."""
    return distinct(rows // LINE_BYTES)


def distinct(rows: np.ndarray) -> int:
    """Distinct values in each row, negative ones left out, summed over the rows."""
    return int(np.count_nonzero(first_of_its_kind(np.sort(rows, axis=1))))


def shared_passes(rows: np.ndarray, bytes_per_lane: int, store: bool) -> tuple[int, int]:
    """(wavefronts, bank conflicts) of requests to shared memory, summed: see `gemm_lab.shared_wavefronts`."""
    parts = wavefronts_of_parts(rows, bytes_per_lane, store)
    return int(parts.sum()), int(parts.sum() - np.count_nonzero(parts))


COST = "requests", "sectors", "wavefronts", "bank_conflicts"    # of some requests; what a space lacks is 0


class Tally:
    """Adds up what every source line did."""

    def __init__(self):
        self.instructions = 0    # of all threads
        self.fma: dict[int | None, int] = defaultdict(int)    # line -> FMAs
        self.memory: dict[tuple, list[int]] = {}    # (line, space, action) -> words, and what COST lists

    def add(self, key: tuple, words: int, cost: tuple[int, int, int, int]) -> None:
        """Add to the counts of `key`: (line, space, "load" or "store")."""
        total = self.memory.get(key)
        if total is None:
            total = self.memory[key] = [0, 0, 0, 0, 0]
        requests, sectors_, wavefronts, conflicts = cost
        total[0] += words
        total[1] += requests
        total[2] += sectors_
        total[3] += wavefronts
        total[4] += conflicts

    def by_line(self) -> dict[int, Counts]:
        """Source line -> Counts, for every line that did something; 0 for what has no line."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for line, fma in self.fma.items():
            if fma:    # a predicate may have left out all threads
                found[line or 0]["fma"] = fma
        for (line, space, action), totals in self.memory.items():
            for name, total in zip(("words", *COST), totals):
                found[line or 0][f"{space}_{action}_{name}"] = total
        zero = vars(Counts.zero())
        return {line: Counts(**{name: found[line].get(name, 0) for name in zero}) for line in sorted(found)}


def total(by_line: dict[int, Counts]) -> Counts:
    """The sum over all lines."""
    return sum(by_line.values(), Counts.zero())
