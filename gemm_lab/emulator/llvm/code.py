"""A kernel as the machine code wants it: records, and what they refer to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemm_lab.emulator.llvm.arena import Arena
from gemm_lab.emulator.llvm.footprints import Table
from gemm_lab.emulator.program import Program


@dataclass(frozen=True)
class Access:
    """A load or store: its place in the arena, and what the machine wants to know about it."""
    at: int
    space: str | None         # None: the address says it
    action: str               # "load" or "store"
    offset: int
    words: int                # of each thread


@dataclass(eq=False)
class Code:
    """A kernel, assembled. Nothing in it depends on a launch."""
    program: Program
    arena: Arena
    records: np.ndarray       # as the machine wants them
    tables_at: int            # where the tables of footprints start in the arena,
    arena_bytes: int          # and where they end
    counters: list[int]       # of each basic block, where its threads are counted,
    fma: list[tuple[int | None, int]]    # and of each predicated FMA: its line, and where
    accesses: list[Access]
    tables: list[Table]
    constants: dict[tuple, int]    # what (see `operands`) -> where


# ---- operands that become numbers when the whole kernel is known ----------------------------------------------------

@dataclass(frozen=True)
class Target:
    """The program counter of a basic block."""
    block: int


@dataclass(frozen=True)
class TableAt:
    """The place of a table of footprints."""
    number: int
