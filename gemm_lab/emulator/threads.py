"""The threads of some blocks, and the groups of them that execute together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gemm_lab.counts import WARP

SPECIAL_REGISTERS = {"laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "dynamic_smem_size",
                     *(f"lanemask_{which}" for which in ("eq", "lt", "le", "gt", "ge")),
                     *(f"{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz")}


@dataclass(frozen=True)
class Launch:
    """The geometry of a launch: blocks in the grid, threads in a block, bytes of dynamic shared memory."""
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Threads in one block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps of one block; the last may be incomplete."""
        return -(-self.threads // WARP)


def coordinates(number, size: tuple[int, int, int]):
    """(x, y, z) of a thread in its block, or of a block in its grid; x runs fastest."""
    x, y, _ = size
    return number % x, number // x % y, number // (x * y)


class Threads:
    """The threads of `blocks` consecutive blocks, numbered through. Arrays have one entry for each thread."""

    def __init__(self, launch: Launch, first_block: int, blocks: int):
        self.launch, self.first_block, self.blocks = launch, first_block, blocks
        self.n = blocks * launch.threads
        numbers = np.arange(self.n)
        self.block = numbers // launch.threads        # 0 is the first of these blocks
        self.number = numbers % launch.threads        # within the block
        self.warp_in_block = self.number // WARP
        self.warp = self.block * launch.warps + self.warp_in_block
        self.lane = self.number % WARP

    def who(self, thread: int) -> str:
        """A thread's name in a message."""
        return f"thread {self.thread(thread)} of block {self.block_of(thread)}"

    def thread(self, thread: int) -> tuple[int, int, int]:
        """threadIdx"""
        return coordinates(int(self.number[thread]), self.launch.block)

    def block_of(self, thread: int) -> tuple[int, int, int]:
        """blockIdx"""
        return coordinates(self.first_block + int(self.block[thread]), self.launch.grid)

    def special_registers(self) -> dict[str, np.ndarray]:
        """The hardware's read-only registers by name, such as "tid.x"; a scalar where all threads agree."""
        launch = self.launch
        values = {"laneid": self.lane, "warpid": self.warp_in_block, "nwarpid": launch.warps, "smid": 0, "nsmid": 1,
                  "gridid": 0, "dynamic_smem_size": launch.shared_bytes}
        of_thread = coordinates(self.number, launch.block)
        of_block = coordinates(self.first_block + self.block, launch.grid)
        for axis, name in enumerate("xyz"):
            values |= {f"tid.{name}": of_thread[axis], f"ntid.{name}": launch.block[axis],
                       f"ctaid.{name}": of_block[axis], f"nctaid.{name}": launch.grid[axis]}
        bit = np.left_shift(1, self.lane)
        values |= {"lanemask_eq": bit, "lanemask_lt": bit - 1, "lanemask_le": 2 * bit - 1, "lanemask_gt": -2 * bit,
                   "lanemask_ge": -bit}
        return {name: _uniform(np.asarray(value).astype(np.int32)) for name, value in values.items()}


def _uniform(values: np.ndarray):
    """A scalar if all entries are equal."""
    return values.reshape(-1)[0] if (values == values.reshape(-1)[0]).all() else values


class Group:
    """Threads that execute together: all of them (`index` None), or those that `index` lists in ascending order.

    It remembers what follows from its membership, because the same group usually runs many instructions.
    """

    def __init__(self, threads: Threads, index: np.ndarray | None = None):
        self.threads, self.index = threads, index
        self.n = threads.n if index is None else len(index)
        self.copies: dict[str, tuple] = {}     # see registers.Window
        self.footprints: dict[int, object] = {}    # see memory.Footprint
        self.visits: dict[tuple[int, int], object] = {}    # see loops.Watch

    def of(self, values: np.ndarray) -> np.ndarray:
        """The members' entries of an array over all threads."""
        return values if self.index is None else values[self.index]

    def thread(self, member: int) -> int:
        """The number among all threads of a member."""
        return member if self.index is None else int(self.index[member])

    @cached_property
    def members(self) -> np.ndarray:
        """Numbers of the members among all threads."""
        return np.arange(self.n) if self.index is None else self.index

    @cached_property
    def lane(self) -> np.ndarray:
        return self.of(self.threads.lane)

    @cached_property
    def row(self) -> np.ndarray:
        """0 for members of the group's first warp, 1 for those of its second, ..."""
        warp = self.of(self.threads.warp)
        return np.cumsum(np.concatenate(([0], warp[1:] != warp[:-1])))

    @cached_property
    def warps(self) -> int:
        """Warps with at least one member: an instruction of the group is that many requests."""
        return int(self.row[-1]) + 1

    @cached_property
    def full(self) -> bool:
        """Whether all 32 lanes of each of its warps are members."""
        return self.n == WARP * self.warps

    def by_warp(self, values: np.ndarray, idle=-1) -> np.ndarray:
        """One row of 32 lanes for each warp; lanes that are not members hold `idle`."""
        if self.full:
            return values.reshape(-1, WARP)
        rows = np.full((self.warps, WARP), idle, values.dtype)
        rows[self.row, self.lane] = values
        return rows
