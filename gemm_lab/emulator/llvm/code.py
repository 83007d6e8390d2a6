"""A kernel as the machine code wants it: records, and what they refer to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemm_lab.emulator.llvm.arena import Arena
from gemm_lab.emulator.llvm.footprints import Table
from gemm_lab.emulator.llvm.structures import (
    ACCESS,
    ENTRIES,
    ENTRY,
    GENERIC,
    GLOBAL,
    LOCAL,
    ORDINARY,
    SHARED,
    WRITABLE,
    seen,
    zeros,
)
from gemm_lab.emulator.program import Program

SPACES = {"global": GLOBAL, "const": GLOBAL, "shared": SHARED, "local": LOCAL, None: GENERIC}


@dataclass(frozen=True)
class Access:
    """A load or store: its place in the arena, and what the machine wants to know about it."""
    at: int
    space: str | None         # None: the address says it
    action: str               # "load" or "store"
    offset: int
    words: int                # of each thread

    def fill(self, row: np.ndarray) -> None:
        """As it starts: it has not reached any region yet."""
        row["first"], row["end"], row["offset"], row["space"] = 1, 0, self.offset, SPACES[self.space]
        row["required"] = WRITABLE * (self.action == "store") + ORDINARY * (self.space != "const")
        row["words"], row["writes"] = self.words, self.action == "store"


@dataclass(eq=False)
class Code:
    """A kernel, assembled. Nothing in it depends on a launch."""
    program: Program
    arena: Arena
    records: np.ndarray       # as the machine wants them
    tables_at: int            # where the tables of footprints start in the arena,
    entries_at: int           # and where their entries do
    counters: list[int]       # of each basic block, where its threads are counted,
    fma: list[tuple[int | None, int]]    # and of each predicated FMA: its line, and where
    start: np.ndarray         # how an arena starts, but for the constants
    tables: list[Table]
    constants: dict[tuple, int]    # what (see `operands`) -> where

    @property
    def arena_bytes(self) -> int:
        """With one entry more than the tables can have: it describes nothing."""
        return self.entries_at + (len(self.tables) * ENTRIES + 1) * ENTRY.size


def start(arena: Arena, accesses: list[Access]) -> np.ndarray:
    """How an arena starts, but for the constants."""
    memory = zeros(arena.top)
    for access in accesses:
        access.fill(seen(memory, ACCESS, access.at))
    return memory


# ---- operands that become numbers when the whole kernel is known ----------------------------------------------------

@dataclass(frozen=True)
class Target:
    """The program counter of a basic block."""
    block: int


@dataclass(frozen=True)
class TableAt:
    """The place of a table of footprints."""
    number: int
