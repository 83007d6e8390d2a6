"""What a memory request costs: sectors, cache lines, and passes through the load/store pipe.

A *request* is one load or store instruction of one warp. Addresses come as an integer array with a row of 32 lanes for
each request; lanes that take no part hold -1.

    sectors            distinct 32-byte pieces of global memory: what the L2 cache must deliver
    global wavefronts  distinct 128-byte lines of global memory
    shared wavefronts  shared memory has 32 banks, each one word (4 bytes) wide; word w lies in bank w mod 32. One pass
                       serves any number of lanes, but from each bank only one word
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, WARP, WORD_BYTES, Counts

BANKS = 32


def sectors(rows: np.ndarray) -> int:
    """Distinct sectors of each request, summed."""
    return distinct(rows // SECTOR_BYTES)


def lines(rows: np.ndarray) -> int:
    """Distinct 128-byte lines of each request, summed."""
    return distinct(rows // LINE_BYTES)


def distinct(rows: np.ndarray) -> int:
    """Distinct values in each row, negative ones left out, summed over the rows."""
    return int(np.count_nonzero(_first_of_its_kind(np.sort(rows, axis=1))))


def _first_of_its_kind(ordered: np.ndarray) -> np.ndarray:
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return new


def shared_wavefronts(rows: np.ndarray, bytes_per_lane: int) -> int:
    """Passes through the pipe for accesses of 1 to 16 bytes, as the PTX asks for them.

    32 bits and less: as many passes as the busiest bank has distinct words. 64-bit accesses are served by half-warps,
    128-bit accesses by quarter-warps; two neighbouring parts share a pass if no bank then has two words. That agrees
    with what an H200 was seen to do (a broadcast of 64 bits takes 1 pass, of 128 bits 2). The machine code may use
    wider accesses than the PTX: see the README.
    """
    words = max(bytes_per_lane // WORD_BYTES, 1)
    touched = rows[:, :, None] // WORD_BYTES + np.arange(words)
    touched = np.where(rows[:, :, None] < 0, -1, touched)
    if words == 1:
        return int(busiest_bank(touched.reshape(-1, WARP)).sum())
    part = busiest_bank(touched.reshape(-1, WARP)).reshape(-1, 2)    # 32 words: a half- or a quarter-warp
    both = busiest_bank(touched.reshape(-1, 2 * WARP))
    return int(np.where(both <= 1, both, part.sum(axis=1)).sum())


def busiest_bank(words: np.ndarray) -> np.ndarray:
    """For each row of word numbers: how many distinct words the busiest bank must deliver; 0 for a row of -1."""
    words = np.sort(words, axis=1)
    new = _first_of_its_kind(words)
    row, _ = np.nonzero(new)
    load = np.bincount(row * BANKS + words[new] % BANKS, minlength=len(words) * BANKS)
    return load.reshape(-1, BANKS).max(axis=1)


class Tally:
    """Adds up what every source line did."""

    def __init__(self):
        self.fma: dict[int | None, int] = defaultdict(int)    # line -> FMAs
        self.memory: dict[tuple, list[int]] = {}    # (line, space, action) -> words, requests, sectors, wavefronts

    def add(self, key: tuple, words: int, requests: int, sectors_: int, wavefronts: int) -> None:
        """Add to the counts of `key`: (line, space, "load" or "store")."""
        total = self.memory.get(key)
        if total is None:
            total = self.memory[key] = [0, 0, 0, 0]
        total[0] += words
        total[1] += requests
        total[2] += sectors_
        total[3] += wavefronts

    def by_line(self) -> dict[int, Counts]:
        """Source line -> Counts, for every line that did something; 0 for what has no line."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for line, fma in self.fma.items():
            found[line or 0]["fma"] = fma
        for (line, space, action), totals in self.memory.items():
            for name, total in zip(("words", "requests", "sectors", "wavefronts"), totals):
                found[line or 0][f"{space}_{action}_{name}"] = total
        zero = vars(Counts.zero())
        return {line: Counts(**{name: found[line].get(name, 0) for name in zero}) for line in sorted(found)}


def total(by_line: dict[int, Counts]) -> Counts:
    """The sum over all lines."""
    return sum(by_line.values(), Counts.zero())
