"""What Python tells the machine code about patterns of addresses: bounds, kind, and the cost of a request.

All follow from the definitions that the NumPy back end uses (`memory.Footprint`), once for each new pattern.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace

import numpy as np

from gemm_lab.copy_wavefronts import SECTORS, bypass_sectors, copy_wavefronts
from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, WARP
from gemm_lab.emulator.llvm.structures import (
    BROADCAST,
    BROADCASTS,
    ENTRY,
    PIECE,
    ROW,
    ROWS,
    SCATTERED,
)
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


class Entry:
    """An entry of a table of footprints, in memory that the machine code owns. `row` is a NumPy record."""

    def __init__(self, row: np.void):
        self.row, self.relative, self.table = row, row["relative"], int(row["table"])
        self.lanes = np.flatnonzero(int(row["lanes"]) >> _LANES & 1)    # numbers of the active ones

    @classmethod
    def at(cls, address: int) -> Entry:
        return cls(np.frombuffer((ctypes.c_char * ENTRY.size).from_address(address), ENTRY.dtype)[0])

    def describe(self, table: Table) -> None:
        """Fill in what follows from the relative addresses."""
        row, relative = self.row, self.relative
        row["moves"] = relative + table.stride * _LANES
        if table.stride:    # a lane that is not active reads what the first active one sees
            row["moves"][~np.isin(_LANES, self.lanes)] = row["moves"][self.lanes[0]]
        row["low"], row["high"] = relative.min(), int(relative.max()) + table.bytes
        row["bits"], row["kind"] = np.bitwise_or.reduce(relative), self.kind(table)

    def kind(self, table: Table) -> int:
        """Which pattern the elements of the lanes make."""
        relative, pieces = self.relative, self.relative.reshape(-1, PIECE)
        if table.stride:
            return SCATTERED
        if not relative.any():
            return BROADCAST
        if len(self.lanes) == WARP and (pieces == pieces[:, :1]).all():
            return BROADCASTS
        steps = np.diff(pieces, axis=1)
        if len(self.lanes) < WARP or table.bytes != table.element_bytes or (steps != table.bytes).any():
            return SCATTERED
        return ROW if (np.diff(relative) == table.bytes).all() else ROWS


# ---- what requests cost ---------------------------------------------------------------------------------------------

_costs: dict[tuple, dict[int, np.ndarray]] = {}    # of this process: pattern -> number of a hit -> cost


def harvest(entry: Entry, table: Table) -> list[int]:
    """What all requests of an entry cost together."""
    hits = entry.row["hits"]
    sort = replace(table, line=None), int(entry.row["lanes"]), entry.relative.tobytes()
    if sort not in _costs and len(_costs) >= MOST_COSTS:
        _costs.clear()
    known, total = _costs.setdefault(sort, {}), 0
    for hit in map(int, np.flatnonzero(hits)):
        if hit not in known:    # 32 for the byte in its word, 1 for the word in its line
            known[hit] = np.array(table.cost(entry.lanes, entry.relative[entry.lanes].astype(np.int64),
                                             4 * (hit % 32) + hit // 32))
        total = total + known[hit] * int(hits[hit])
    return total.tolist()
