"""A worker: the memory of one thread of the CPU that runs blocks, laid out as `context` says."""

from __future__ import annotations

import ctypes

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator import memory as mem
from gemm_lab.emulator.flow import EXIT
from gemm_lab.emulator.llvm import context as c
from gemm_lab.emulator.llvm.footprints import Costs, Entry
from gemm_lab.emulator.llvm.kernel_ir import Translation
from gemm_lab.emulator.threads import Launch, Threads

_NEW_FOOTPRINT = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)
_NEW_COST = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
ALIGNMENT = 128
SLOT_MASKS = {"global": 31, "shared": 3}    # a request costs the same 128 bytes, or the widest access, further on


def aligned(size: int) -> np.ndarray:
    """Zeros, at an address that is good for vectors and keeps the bank of a shared address."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start:start + size]


class Memories:
    """The address map of a launch: the regions of each space as tables, and what every worker starts with."""

    def __init__(self, translation: Translation, launch: Launch, memory: mem.Global, symbols: dict[str, int],
                 arguments: dict[str, bytes]):
        variables = [v for v in translation.program.variables.values() if v.space == "shared"]
        places, size = mem.layout(variables, launch.shared_bytes)
        self.shared = mem.Shared(places, size, 1, mem.SHARED_FILL)
        self.spaces = {"global": memory, "const": memory, "shared": self.shared}
        addresses = symbols | self.shared.addresses()
        self.symbols = np.array([addresses.get(name, 0) for name in translation.symbols] or [0], np.int64)
        self.parameters = aligned(translation.parameter_bytes + 16)
        for name, first in translation.parameters.items():
            self.parameters[first:first + len(arguments[name])] = np.frombuffer(arguments[name], np.uint8)
        self.special = special_registers(translation.special, launch)
        self.fresh_pcs = np.where(np.arange(launch.warps * WARP) < launch.threads, 0, EXIT).astype(np.int32)

    def regions(self, space: str, shared_at: int, owners: dict[int, np.ndarray]) -> np.ndarray:
        """A row for each region of a space, as `context` describes it."""
        known = self.spaces[space]
        count = max((r.first >> known.shift for r in known.regions.values()), default=0) + 1
        table = np.zeros((count, c.REGION_BYTES // 8), np.int64)
        table[:, 0] = 1    # no region: starts behind its end
        for region in known.regions.values():
            real = (shared_at if space == "shared" else region.storage.ctypes.data) + region.at
            flags = c.WRITABLE * region.writable + c.ORDINARY * (not region.constant)
            far = owners[region.first].ctypes.data - real if space == "global" else 0
            table[region.first >> known.shift, :5] = (region.first, region.first + region.size, real - region.first,
                                                      flags, far)
        return table


def special_registers(names: list[str], launch: Launch) -> np.ndarray:
    """For each warp of a block, the special registers that the kernel reads: 32 lanes each."""
    values = Threads(launch, 0, 1).special_registers()
    table = np.zeros((max(len(names), 1), launch.warps * WARP), np.int32)
    for row, name in zip(table, names):
        row[:launch.threads] = values[name]
    return np.ascontiguousarray(table.reshape(len(table), launch.warps, WARP).swapaxes(0, 1))


class Worker:
    """Everything that one thread of the CPU writes to."""

    def __init__(self, translation: Translation, memories: Memories, launch: Launch, costs: Costs,
                 next_block: np.ndarray):
        self.translation, self.costs, self.keep = translation, costs, []
        self.context = aligned(c.CONTEXT_BYTES)
        self.fields = self.context.view(np.int64)
        self.shared = aligned(len(memories.shared.bytes))
        self.touched = aligned(2 * len(self.shared))    # who wrote each word, then who read it
        self.tables = aligned(c.TABLE_BYTES * max(len(translation.tables), 1))
        for k in range(len(translation.tables)):    # the entry used last: the first, which describes nothing yet
            table = self.tables[k * c.TABLE_BYTES:]
            table[:8].view(np.int64)[0] = table.ctypes.data + 64
        self.block_threads = np.zeros(len(translation.blocks), np.int64)
        self.accesses = self._accesses(memories)
        self._new_footprint = _NEW_FOOTPRINT(self.new_footprint)
        self._new_cost = _NEW_COST(self.new_cost)
        pointers = {
            c.NEW_FOOTPRINT: ctypes.cast(self._new_footprint, ctypes.c_void_p).value,
            c.NEW_COST: ctypes.cast(self._new_cost, ctypes.c_void_p).value,
            c.ACCESSES: self.accesses, c.TABLES: self.tables, c.BLOCK_THREADS: self.block_threads,
            c.PARAMETERS: memories.parameters, c.SYMBOLS: memories.symbols, c.SPECIAL: memories.special,
            c.STATES: aligned(launch.warps * translation.state_bytes), c.SHARED: self.shared,
            c.FRESH_SHARED: memories.shared.bytes, c.FRESH_PCS: memories.fresh_pcs, c.NEXT_BLOCK: next_block,
            c.LOG: aligned(c.LOG_ENTRIES * c.LOG_ENTRY_BYTES)}
        for offset, array in pointers.items():
            self.keep.append(array)
            self.fields[offset // 8] = array if isinstance(array, int) else array.ctypes.data

        self.fields[c.GRID // 8:c.GRID // 8 + 3] = *launch.grid[:2], launch.blocks
        self.fields[c.WRITERS // 8] = self.touched.ctypes.data - self.shared.ctypes.data
        self.fields[c.READERS // 8] = self.fields[c.WRITERS // 8] + len(self.shared)

    def _accesses(self, memories: Memories) -> np.ndarray:
        rows = aligned(c.ACCESS_BYTES * max(len(self.translation.accesses), 1)).view(np.int64).reshape(-1, 16)
        regions = memories.spaces["global"].regions.values()
        self.owners = {r.first: np.zeros(r.size // 4 + 1, np.int32) for r in regions}
        tables = {space: memories.regions(space, self.shared.ctypes.data, self.owners) for space in memories.spaces}
        self.keep.append(tables)
        for n, access in enumerate(self.translation.accesses):
            table = access.table
            required = c.WRITABLE * (table.action == "store") + c.ORDINARY * (table.space != "const")
            rows[n, :8] = (tables[table.space].ctypes.data, memories.spaces[table.space].shift,
                           len(tables[table.space]), table.bytes, required, access.offset,
                           SLOT_MASKS.get(table.space, 0), n)
            rows[n, c.COUNTED // 8] = access.counted
        return rows

    # ---- called by compiled code

    def new_footprint(self, entry: int, table: int) -> None:
        Entry(entry).describe(self.translation.tables[table])

    def new_cost(self, entry: int, access: int, slot: int) -> None:
        self.costs.fill(Entry(entry), self.translation.accesses[access].table, slot)

    # ---- seen from outside

    @property
    def stopped(self) -> bool:
        return self.fields[c.STOP // 8] != 0

    def stop(self) -> None:
        """Make the worker leave at the end of the basic block in which it is."""
        self.fields[c.STOP // 8] = 1

    @property
    def started(self) -> int:
        """Blocks that it has begun."""
        return int(self.fields[c.STARTED // 8])

    def counts(self) -> np.ndarray:
        """For each access what `context.COUNTS` lists."""
        return self.accesses[:, c.COUNTS // 8:c.COUNTS // 8 + 4]
