"""What Python tells the compiled code about patterns of addresses: bounds, kind, and the cost of a request.

Both come from the definitions that the NumPy back end uses (`memory.Footprint`, `counting`), once for each new pattern.
"""

from __future__ import annotations

import ctypes

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm import context as c
from gemm_lab.emulator.llvm.requests_ir import Table
from gemm_lab.emulator.memory import Footprint
from gemm_lab.emulator.threads import Group, Launch, Threads

_WARP = Threads(Launch((1, 1, 1), (WARP, 1, 1)), 0, 1)
FAR = 1 << 46    # lanes that are so far apart do not all reach the same array


class Entry:
    """An entry of a table of footprints, in memory that compiled code owns."""

    def __init__(self, address: int):
        self.bytes = np.frombuffer((ctypes.c_char * c.ENTRY_BYTES).from_address(address), np.uint8)
        self.relative = self.bytes[:c.MASK].view(np.int64)
        self.fields = self.bytes[c.MASK:c.COSTS].view(np.int64)    # mask, low, high, low bits, kind, anchor, ...
        self.costs = self.bytes[c.COSTS:].view(np.int16).reshape(-1, 4)

    @property
    def lanes(self) -> np.ndarray:
        """Numbers of the active lanes."""
        return np.flatnonzero(int(self.fields[0]) >> np.arange(WARP) & 1)

    def describe(self, table: Table) -> None:
        """Fill in what follows from the relative addresses."""
        relative = self.relative
        low, high = int(relative.min()), int(relative.max())
        self.fields[1:4] = low, high if high - low < FAR else 1 << 62, int(np.bitwise_or.reduce(relative))
        self.fields[4] = self.kind(table)
        self.costs[:] = 0

    def kind(self, table: Table) -> int:
        if not self.relative.any():
            return c.BROADCAST
        is_row = len(self.lanes) == WARP and table.bytes == table.element_bytes
        return c.ROW if is_row and (self.relative == table.bytes * np.arange(WARP)).all() else c.SCATTERED


class Costs:
    """What requests cost. One for each launch, so that workers learn from each other."""

    def __init__(self):
        self.known: dict[tuple, tuple] = {}

    def fill(self, entry: Entry, table: Table, slot: int) -> None:
        """Put the cost of a request into its slot of an entry: words, requests, sectors or conflicts, wavefronts."""
        key = table, slot, int(entry.fields[0]), entry.relative.tobytes()
        if key not in self.known:
            self.known[key] = self._cost(entry, table, slot)
        entry.costs[slot] = self.known[key]

    @staticmethod
    def _cost(entry: Entry, table: Table, slot: int) -> tuple[int, int, int, int]:
        lanes = entry.lanes
        group = Group(_WARP, lanes)
        foot = Footprint(entry.relative[lanes].copy(), 0)
        requests, sectors, wavefronts, conflicts = foot.cost(group, table.space, 4 * slot, table.machine,
                                                             table.action == "store")
        return len(lanes) * (table.bytes // 4), requests, sectors + conflicts, wavefronts
