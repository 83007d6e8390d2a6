"""What requests cost, by the pattern of their addresses.

It follows from the definitions that the NumPy back end uses (`memory.Footprint`), once for each new pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gemm_lab.copy_wavefronts import SECTORS, bypass_sectors, copy_wavefronts
from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, WARP
from gemm_lab.emulator.memory import Footprint
from gemm_lab.emulator.threads import Group, Launch, Threads
from gemm_lab.machine_loads import MachineAccess

_WARP = Threads(Launch((1, 1, 1), (WARP, 1, 1)), 0, 1)
_LANES = np.arange(WARP)
MOST_COSTS = 2**14    # patterns whose costs are remembered


@dataclass(frozen=True)
class Table:
    """The footprints of one address register in one basic block, for accesses of one line and sort."""
    line: int | None
    space: str                # "global", "const", "shared" or "local"
    action: str               # "load" or "store"
    bytes: int                # of one thread
    element_bytes: int
    stride: int               # bytes between what neighbouring lanes see at one address: not 0 in local memory
    machine: MachineAccess    # what the machine code makes of them

    @property
    def words(self) -> int:
        """Of one thread."""
        return max(self.bytes // 4, 1)

    @cached_property
    def anywhere(self) -> Table:
        """The same without its line: what requests cost does not depend on it."""
        return replace(self, line=None)

    def cost(self, lanes: np.ndarray, relative: np.ndarray, address: int) -> tuple[int, ...]:
        """Words, and what counting.COST lists, of the request of some lanes, the first of which reaches `address`."""
        foot = Footprint(relative, 0)
        found = foot.cost(Group(_WARP, lanes), self.space, address, self.machine, self.action == "store")
        return len(lanes) * self.words, *found


@dataclass(frozen=True)
class End(Table):
    """One end of asynchronous copies; `bypass`: past L1. What both ends cost together is left to `Meeting`."""
    bypass: bool

    def cost(self, lanes: np.ndarray, relative: np.ndarray, address: int) -> tuple[int, ...]:
        words, requests, sectors, *_ = super().cost(lanes, relative, address)
        return words, requests, sectors * (not self.bypass), 0, 0


@dataclass(frozen=True)
class Meeting(Table):
    """What asynchronous copies cost because of both ends: `copy_wavefronts`. In place of relative addresses a lane has
    what matters of both, as `copies.meet` packs it."""
    bypass: bool

    def cost(self, lanes: np.ndarray, relative: np.ndarray, address: int) -> tuple[int, ...]:
        source, target, brings = np.full((3, 1, WARP), -1, np.int64)
        if self.bypass:
            source[0, lanes] = (relative // SECTORS + FARTHEST) * LINE_BYTES
            target[0, lanes] = relative % SECTORS * SECTOR_BYTES
            brings[0, lanes] = relative != NOTHING
            return 0, 0, int(bypass_sectors(source, target, brings > 0)[0]), 0, 0
        source[0, lanes], target[0, lanes] = relative % LINE_BYTES, relative // LINE_BYTES % LINE_BYTES
        brings[0, lanes] = relative // LINE_BYTES**2
        wavefronts, conflicts = copy_wavefronts(source, target, self.bytes, brings > 0)
        return 0, 0, 0, int(wavefronts[0]), int(conflicts[0])


FARTHEST, NOTHING = 2**17, -1    # lines between the sources of a warp's lanes; a lane that brings nothing


# ---- what requests cost ---------------------------------------------------------------------------------------------

_costs: dict[tuple, dict[int, tuple[int, ...]]] = {}    # of this process: pattern -> number of a hit -> cost


def harvest(entry: np.void, table: Table) -> list[int]:
    """What all requests of an entry of a table cost together."""
    lanes, relative, hits = int(entry["lanes"]), entry["relative"], entry["hits"]
    pattern = table.anywhere, lanes, relative.tobytes()
    known = _costs.get(pattern)
    if known is None:
        if len(_costs) >= MOST_COSTS:
            _costs.clear()
        known = _costs[pattern] = {}
    total, found = [0] * 5, hits.nonzero()[0]
    for hit, times in zip(found.tolist(), hits[found].tolist()):
        if hit not in known:    # 32 for the byte in its word, 1 for the word in its line
            active = np.flatnonzero(lanes >> _LANES & 1)
            known[hit] = table.cost(active, relative[active].astype(np.int64), 4 * (hit % 32) + hit // 32)
        total = [sum_ + times * part for sum_, part in zip(total, known[hit])]
    return total
