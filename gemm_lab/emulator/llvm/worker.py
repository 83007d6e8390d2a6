"""A worker: one thread of the CPU, and the arena in which it runs blocks."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator import memory as mem
from gemm_lab.emulator.llvm.footprints import Table, harvest
from gemm_lab.emulator.llvm.loops import Watch
from gemm_lab.emulator.llvm.setting import Setting
from gemm_lab.emulator.llvm.structures import (
    CONTEXT,
    COPIES,
    COPY,
    ENTRY,
    EPOCH,
    FREELY,
    LATER,
    LOCALLY,
    LOG,
    LOG_ENTRIES,
    NOW,
    ORDINARY,
    REGION,
    TABLE,
    WINDOW,
    WRITABLE,
    address,
    seen,
    zeros,
)

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int64)


class Worker:
    """Everything that one thread of the CPU writes to."""

    def __init__(self, setting: Setting):
        self.setting, self.code = setting, setting.code
        self.keep: list = []    # what the machine code has only the address of
        self.forgotten: list[tuple[Table, list[int]]] = []    # what the requests of entries that were replaced cost
        self.arena = zeros(self.code.arena_bytes)
        self.arena[:len(setting.start)] = setting.start
        self.shared = zeros(len(setting.shared.bytes))
        self.stamps = zeros(2 * len(self.shared))
        self.owners = {r.first: np.zeros((2, r.size // 4 + 1), np.uint32) for r in setting.watched}
        self.context = seen(self.arena, CONTEXT)[0]
        self.watch = Watch(self)
        self.make_tables()
        for name, value in (self.numbers() | self.pointers() | self.functions()).items():
            self.context[name] = value

    def make_tables(self) -> None:
        """The tables of footprints: none has an entry yet."""
        tables = self.arena[self.code.tables_at:self.code.entries_at].view(TABLE.dtype)
        for name in ("bytes", "element_bytes", "stride"):
            tables[name] = [getattr(table, name) for table in self.code.tables]
        tables["last"] = address(self.arena) + self.code.entries_at    # an entry that describes nothing

    # ---- the context

    def numbers(self) -> dict[str, object]:
        setting, launch = self.setting, self.setting.launch
        return {"blocks": launch.blocks, "blocks_x": launch.grid[0], "blocks_y": launch.grid[1],
                "warps": launch.warps, "threads": launch.threads, "in_block": setting.numbers_in_block,
                "window": setting.windows.shape[1], "changing": self.code.arena.changing_end - WINDOW.pcs.at,
                "shared_bytes": len(self.shared), "stamp_bytes": len(self.stamps), "epoch": EPOCH,
                "checks": setting.execution.check, "spaces": self.spaces()}

    def pointers(self) -> dict[str, int]:
        setting, log = self.setting, zeros(LOG_ENTRIES * LOG.size)
        arrays = {"code": self.code.records, "next_block": setting.next_block, "fresh": setting.windows,
                  "states": zeros(setting.windows.size), "shared": self.shared, "fresh_shared": setting.shared.bytes,
                  "log": log, "log_end": log, "log_limit": log[-LOG.size:], "numbers": setting.numbers,
                  "stamps": self.stamps, "unused": self.arena[self.code.entries_at + ENTRY.size:],
                  "copies": zeros(setting.launch.warps * COPIES * COPY.size)}
        self.keep.append(arrays)
        return {name: address(array) for name, array in arrays.items()}

    def functions(self) -> dict[str, int]:
        callbacks = {name: _CALLBACK(getattr(self, name)) for name in ("forget", "spent")}
        self.keep.append(callbacks)
        return {name: ctypes.cast(function, ctypes.c_void_p).value for name, function in callbacks.items()}

    def spaces(self) -> np.ndarray:
        """Of global, shared and local memory: regions, log2 of their distance, and how many."""
        rows = []
        for locate, space in ((self.in_global, self.setting.execution.memory), (self.in_shared, self.setting.shared),
                              (self.in_local, self.setting.local)):
            regions = zeros((max(space.regions, default=-1) + 1) * REGION.size)
            for number, region in space.regions.items():
                self.fill(seen(regions, REGION, number * REGION.size), region, *locate(region))
            self.keep.append(regions)
            rows += [address(regions), space.shift, len(regions) // REGION.size]
        return np.array(rows, np.uint64)

    @staticmethod
    def fill(row: np.ndarray, region: mem.Region, real: int, stamps: int, far: int, noted: int, writable: bool) -> None:
        """A region: where it really is, where its stamps are, how far from a writer's stamp the reader's is, how one
        looks at accesses to it, and whether it may be written."""
        row["first"], row["end"], row["move"] = region.first, region.first + region.size, real - region.first
        row["stamps"], row["far"], row["noted"] = stamps - region.first, far, noted
        row["flags"] = WRITABLE * writable + ORDINARY * (not region.constant)

    def in_global(self, region: mem.Region) -> tuple[int, int, int, int, bool]:
        real, owners = address(region.storage) + region.at, self.owners.get(region.first)
        if owners is None:    # the kernel cannot mean to write here
            return real, 0, 0, FREELY, False
        return real, address(owners), owners.nbytes // 2, NOW, region.writable

    def in_shared(self, region: mem.Region) -> tuple[int, int, int, int, bool]:
        return address(self.shared) + region.at, address(self.stamps) + region.at, len(self.shared), LATER, True

    def in_local(self, region: mem.Region) -> tuple[int, int, int, int, bool]:
        arena, at = self.code.arena, address(self.arena) + region.at
        noted = LOCALLY if arena.local_stamps else FREELY
        return at + arena.local, at + arena.local_stamps, WARP * arena.local_stride, noted, True

    # ---- called by machine code

    def forget(self, at: int) -> None:
        """An entry is about to be replaced."""
        self.forgotten.append(self.cost(seen(self.arena, ENTRY, at - address(self.arena))[0]))

    def spent(self, block: int) -> None:
        """A warp has used up its budget."""
        self.watch.look(block)

    # ---- seen from outside

    @property
    def stopped(self) -> bool:
        return bool(self.context["stop"])

    def stop(self) -> None:
        """Make the worker leave at the end of the basic block in which it is."""
        self.context["stop"] = 1

    @property
    def started(self) -> int:
        """Blocks that it has begun."""
        return int(self.context["started"])

    def executed(self) -> np.ndarray:
        """For each basic block, how many threads have executed it."""
        return self.arena.view(np.int64)[np.array(self.code.counters) // 8]

    def predicated(self) -> Iterator[tuple[int | None, int]]:
        """The line of each predicated FMA, and how many threads have executed it."""
        for line, place in self.code.fma:
            yield line, int(self.arena.view(np.int64)[place // 8])

    def costs(self) -> Iterator[tuple[Table, list[int]]]:
        """What the requests of each table cost, in parts."""
        yield from self.forgotten
        start, end = self.code.entries_at, int(self.context["unused"]) - address(self.arena)
        yield from map(self.cost, self.arena[start:end].view(ENTRY.dtype)[1:])

    def cost(self, entry: np.void) -> tuple[Table, list[int]]:
        """What the requests of an entry cost."""
        table = self.code.tables[entry["table"]]
        return table, harvest(entry, table)
