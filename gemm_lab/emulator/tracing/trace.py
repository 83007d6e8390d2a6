"""The trace of one block: what its threads did, step by step, in the order in which the emulator executed it.

A step is one instruction of the threads that executed it together: a load, a store, a floating-point operation, or the
arrival at a barrier. Integer arithmetic, comparisons and branches are left out. The order is one that a GPU may choose,
not a time: a GPU runs the warps of a block in any order that the barriers allow.

Everything is in columns, NumPy arrays with one entry for each step, so that a trace is small and can be handed to a
browser as it is. What differs from thread to thread lies in four flat arrays, thread by thread in ascending order:

    masks    (masks, threads) bool: who takes part; `steps["mask"]` names a row
    index    element of the array that each thread reaches first; a step's begin at `steps["at_index"]`
    value    what each thread reads, writes or computes, `width` values each; from `steps["at_value"]`
    mixed    sources of operands that are not the same step for all threads

Where an operand comes from (`sources`, up to four for each step: of an FMA its two factors and its summand, of a store
what it stores) is 4 * step + element for the value that the same thread got in an earlier step; -1 for anything else,
and then `constants` has its value, or NaN if it is not one number; -2 - m for a row of `mixed` that begins at m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gemm_lab.run import Finding

KINDS = ("end", "global load", "global store", "shared load", "shared store", "local load", "local store",
         "atomic", "fma", "arithmetic", "barrier")
END, GLOBAL_LOAD, GLOBAL_STORE, SHARED_LOAD, SHARED_STORE, LOCAL_LOAD, LOCAL_STORE, ATOMIC, FMA, ARITHMETIC, BARRIER = (
    range(len(KINDS)))
LOADS, STORES = (GLOBAL_LOAD, SHARED_LOAD, LOCAL_LOAD), (GLOBAL_STORE, SHARED_STORE, LOCAL_STORE)
MAX_VALUES = 2**20    # values in a trace: about 6 MB


@dataclass(frozen=True)
class Array:
    """An array that the block reached. An unknown shape is given as one row."""

    name: str                    # as in the source; "tiles:A0" for the first part of `tiles` that holds a tile of A
    space: str                   # "global", "shared" or "local"
    rows: int
    columns: int
    at: int = 0                  # the first byte's place in the shared memory of a block: it decides the bank
    item_bytes: int = 4
    argument: int | None = None  # its position among the kernel's arguments, from 0
    filled_from: int | None = None    # of a shared array: the array whose elements it holds copies of


@dataclass(frozen=True)
class Spot:
    """Where a finding happened: two steps and threads (one, if it takes no two) at an element of an array."""

    finding: int                 # its number in `Run.findings`
    array: int
    index: int
    steps: tuple[int, ...]
    threads: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Trace:
    """See the module. The columns of `steps`:

    line, kind     source line (0: unknown), and what the step is (`KINDS`)
    instruction    a number for the instruction: the same wherever other threads, or later rounds of a loop, execute it
    phase          what it is for (`phases.PHASES`), derived from the flow of data
    mask, width    who takes part; values of each thread
    array          of a memory access, its number in `arrays`, else -1
    at_index, at_value    where its entries in `index` and `value` begin
    epoch          barriers that have opened before
    opens          1 for the arrival that opens a barrier
    words, requests, sectors, wavefronts, bank_conflicts    what the step costs, as in `Counts`: of shared memory, what
                   the machine code's access costs
    machine        bytes of a lane's access in the machine code; 0 where another step's access serves this one
    asynchronous   1 for the read of a copy from global to shared memory (cp.async), and for its arrival
    chain          the accumulator to which a multiplication adds, counted from 0, else -1
    uses, last     of a load: multiplications that use it, and the last step that does, else -1
    launch_global, launch_shared, launch_fma    running totals of all blocks: words read, and FMAs

    `reads` has for each array of global memory how often the launch read every element. The last step is the end of
    the launch.
    """

    block: tuple[int, int, int]
    block_shape: tuple[int, int, int]
    grid: tuple[int, int, int]
    arrays: tuple[Array, ...]
    steps: Mapping[str, np.ndarray]
    masks: np.ndarray
    index: np.ndarray
    value: np.ndarray
    sources: np.ndarray
    constants: np.ndarray
    mixed: np.ndarray
    reads: Mapping[int, np.ndarray] = field(default_factory=dict)
    spots: tuple[Spot, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __len__(self) -> int:
        return len(self.steps["kind"])

    def __repr__(self) -> str:
        return f"Trace(block {self.block}: {len(self)} steps of {self.masks.shape[1]} threads)"

    @property
    def threads(self) -> int:
        """Threads in the block."""
        return self.masks.shape[1]

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        flat = (self.masks, self.index, self.value, self.sources, self.constants, self.mixed)
        return sum(a.nbytes for a in (*flat, *self.steps.values(), *self.reads.values()))

    def members(self, step: int) -> np.ndarray:
        """The numbers of the threads that take part in a step, in the order of its entries."""
        return np.flatnonzero(self.masks[self.steps["mask"][step]])

    def reached(self, step: int) -> np.ndarray:
        """For each member, the element that it reaches first; empty for what is no memory access."""
        at = int(self.steps["at_index"][step])
        return self.index[at:at + len(self.members(step))] if self.steps["array"][step] >= 0 else self.index[:0]

    def values(self, step: int) -> np.ndarray:
        """What each member reads, writes or computes, one row of `width` values for each."""
        width, at = int(self.steps["width"][step]), int(self.steps["at_value"][step])
        return self.value[at:at + width * len(self.members(step))].reshape(-1, max(width, 1))

    def origins(self, step: int, operand: int) -> np.ndarray:
        """For each member, 4 * step + element from which an operand comes, or -1."""
        source, count = int(self.sources[step, operand]), len(self.members(step))
        return np.full(count, source) if source >= -1 else self.mixed[-2 - source:][:count]
