"""Writes down what the threads of one block do, while they do it.

The machine asks the recorder for the steps of each basic block (`steps`), so it sees every instruction before and after
it is executed; loads and stores report where they reach and what they move (`access`). The recorder changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator import counting
from gemm_lab.emulator.memory import Access, Region, Space
from gemm_lab.emulator.ptx import Instruction, Not, Register
from gemm_lab.emulator.reports import cxx_name
from gemm_lab.emulator.shared_requests import SharedRequests
from gemm_lab.emulator.threads import Group, Launch
from gemm_lab.emulator.tracing import phases, spots
from gemm_lab.emulator.tracing.columns import NOTHING, Columns, TooLong
from gemm_lab.emulator.tracing.tags import MOVES, Tags
from gemm_lab.emulator.tracing.trace import (
    ARITHMETIC,
    ATOMIC,
    BARRIER,
    END,
    FMA,
    GLOBAL_LOAD,
    KINDS,
    STORES,
    Array,
    Trace,
)
from gemm_lab.machine_loads import MachineAccess

__all__ = ["Recorder", "TooLong"]
NOT_COMPUTED = {*MOVES, "ld", "ldu", "st", "atom", "red", "cp", "setp", "set", "slct", "testp", "shfl"}


class Recorder:
    """Records block (x, y, z) of a launch. `begin` is called for each batch, `finish` at the end.

    names    the kernel's parameters, in order
    shapes   rows and columns of the shared arrays whose declaration says them: see `shapes`
    shared   which accesses to shared memory the machine code makes
    """

    def __init__(self, launch: Launch, block: tuple[int, int, int], names, shapes, shared: SharedRequests):
        self.launch, self.block, self.names, self.shapes, self.shared = launch, block, tuple(names), shapes, shared
        self.number = block[0] + launch.grid[0] * (block[1] + launch.grid[1] * block[2])
        self.columns = Columns(launch.threads)
        self.tags = Tags(launch.threads, self.columns)
        self.arrays: dict[tuple[str, int], int] = {}
        self.described: list[Array] = []
        self.reads: dict[int, np.ndarray] = {}
        self.totals = {"global": 0, "shared": 0, "fma": 0}    # of the whole launch
        self.epoch = 0
        self.numbers: dict[int, int] = {}    # of the kernel's instructions that were recorded, by identity
        self.instruction: Instruction | None = None

    # ---- called by the machine

    def begin(self, batch) -> None:
        """A batch of blocks starts; the recorded one may be among them."""
        self.first_block = batch.threads.first_block
        first = (self.number - self.first_block) * self.launch.threads
        self.first = first if 0 <= first < batch.threads.n else batch.threads.n

    def steps(self, batch, code) -> Iterator[tuple]:
        """The steps of a basic block, each watched while the machine executes it."""
        for (step, dead), instruction in zip(code.steps, code.block.instructions):
            self.instruction = instruction
            note = self.before(batch, instruction)
            yield step, ()
            if note is not None:
                note()
            for name in dead:
                batch.registers.pop(name, None)
        self.instruction = None

    def arrive(self, line: int | None, group: Group) -> None:
        """The group's threads reach a barrier."""
        _, members = self.part(group)
        if len(members):
            self.add(BARRIER, line, members)

    def opened(self, blocks: np.ndarray) -> None:
        """A barrier opens in these blocks."""
        if not np.isin(self.number - self.first_block, blocks):
            return
        if self.columns.last("kind") != BARRIER or self.columns.last("opens"):
            self.add(BARRIER, None, NOTHING)    # nobody arrived: the last thread that was missing has ended
        self.columns.steps["opens"][-1] = 1
        self.epoch += 1

    def access(self, space: Space, region: Region, access: Access, group: Group, positions: np.ndarray, values: list,
               copied_by: int = -1) -> None:
        """The group reads or writes `values` at these bytes of the region's storage.

        `copied_by`: the step that loaded what an asynchronous copy now delivers.
        """
        if region.constant:
            return
        if access.action == "load" and space.name in self.totals:
            self.totals[space.name] += group.n * access.words
        offsets = space.offsets(group)
        array = self.array(space, region, access)
        item = self.described[array].item_bytes
        reached = (positions - region.at - (0 if offsets is None else offsets)) // item
        if access.action == "load" and space.name == "global":
            self.count_reads(array, region.size // item, reached, max(access.bytes // item, 1))
        chosen, members = self.part(group)
        if len(members):
            now = [readable(np.broadcast_to(value, (group.n,))[chosen], self.instruction) for value in values]
            self.add_access(space, access, members, array, reached[chosen], now, copied_by)

    def copying(self) -> int:
        """The step that has just read what an asynchronous copy will deliver, or -1."""
        return len(self.columns) - 1 if self.columns.last("kind") == GLOBAL_LOAD else -1

    # ---- instructions

    def part(self, group: Group, some: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Which members of a group (of `some`, a mask over them) belong to the block, and their numbers in it."""
        start, stop = np.searchsorted(group.members, (self.first, self.first + self.launch.threads))
        chosen = np.arange(start, stop)
        if some is not None:
            chosen = chosen[some[start:stop]]
        return chosen, group.members[chosen] - self.first

    def before(self, batch, i: Instruction) -> Callable | None:
        """Look at an instruction's operands; returns what to do when it has been executed."""
        kind = i.opcode[0]
        computes = i.opcode[-1][0] == "f" and kind not in NOT_COMPUTED
        if not computes and kind not in MOVES:
            if kind not in ("ld", "ldu"):    # of those `access` sets the tags
                self.tags.clear(i)
            return None
        executing = predicate(batch, i.guard) if i.guard is not None else None
        if i.is_fma:
            self.totals["fma"] += batch.group.n if executing is None else int(np.count_nonzero(executing))
        chosen, members = self.part(batch.group, executing)
        if not len(members):
            return None
        if computes:
            return self.compute(batch, i, chosen, members)
        chooser = predicate(batch, i.operands[3])[chosen] if kind == "selp" else None
        return self.tags.move(i, members, chooser)

    def compute(self, batch, i: Instruction, chosen: np.ndarray, members: np.ndarray) -> Callable:
        """A floating-point operation: its operands now, its result when it is there."""
        def values(register: Register) -> np.ndarray:
            return np.broadcast_to(batch.registers[register.name], (batch.group.n,))[chosen]
        operands = [self.tags.operand(operand, members, values) for operand in i.operands[1:5]]

        def note():
            step = self.add(FMA if i.is_fma else ARITHMETIC, i.line, members, values=[values(i.operands[0])],
                            operands=operands)
            self.tags.set(i.operands[0], members, 4 * step)
        return note

    # ---- memory

    def add_access(self, space: Space, access: Access, members: np.ndarray, array: int, reached: np.ndarray,
                   values: list[np.ndarray], copied_by: int) -> None:
        kind = ATOMIC if access.action == "atomic" else KINDS.index(f"{space.name} {access.action}")
        registers = self.moved(access)
        operands = [(self.tags.source(r, members), np.nan) for r in registers] if kind in STORES else []
        if copied_by >= 0:
            operands = [(4 * copied_by + element, np.nan) for element in range(len(values))]
        machine = self.shared.accesses.get(access.at) or access.as_written
        cost = costs(self.described[array], access, machine, members, reached)
        copies = copied_by >= 0 or self.instruction is not None and self.instruction.opcode[0] == "cp"
        step = self.add(kind, access.line, members, reached, values, operands, array,
                        cost | {"asynchronous": int(copies)})
        if access.action == "load":
            for element, register in enumerate(registers):
                self.tags.set(register, members, 4 * step + element)

    def moved(self, access: Access) -> tuple:
        """The registers that the current load or store fills or empties."""
        i = self.instruction
        if i is None or i.opcode[0] not in ("ld", "ldu", "st"):
            return ()
        operand = i.operands[0 if access.action == "load" else 1]
        return operand if isinstance(operand, tuple) else (operand,)

    def array(self, space: Space, region: Region, access: Access) -> int:
        """The number of an array, which is described when it is reached first."""
        key = space.name, region.first
        if key not in self.arrays:
            self.arrays[key] = len(self.described)
            self.described.append(self.describe(space, region, access))
        return self.arrays[key]

    def describe(self, space: Space, region: Region, access: Access) -> Array:
        name = cxx_name(region.name)
        item = region.dtype.itemsize if space.name == "global" else access.element_bytes
        count = region.size // item
        shape = self.shapes.get(name) if space.name == "shared" else region.shape
        if not shape or int(np.prod(shape)) != count:
            shape = 1, count
        argument = self.names.index(name) if space.name == "global" and name in self.names else None
        return Array(name, space.name, int(np.prod(shape[:-1])), int(shape[-1]), region.at, item, argument)

    def count_reads(self, array: int, size: int, reached: np.ndarray, each: int) -> None:
        reads = self.reads.setdefault(array, np.zeros(size, np.int32))
        for k in range(each):
            reads += np.bincount(reached + k, minlength=size).astype(np.int32)

    # ---- the result

    def add(self, kind: int, line: int | None, members: np.ndarray, reached=NOTHING, values=(), operands=(),
            array: int = -1, cost: dict | None = None) -> int:
        totals = {f"launch_{name}": total for name, total in self.totals.items()}
        number = self.numbers.setdefault(id(self.instruction), len(self.numbers))
        return self.columns.add(members, reached, values, operands, kind=kind, line=line or 0, array=array,
                                instruction=number, epoch=self.epoch, **(cost or {}), **totals)

    def finish(self, findings, completed: bool) -> Trace:
        """The trace. A run that was stopped ends at the line that stopped it."""
        stopped = findings[-1].line if findings and not completed else None
        self.add(END, stopped, NOTHING)
        trace = phases.annotate(Trace(self.block, self.launch.block, self.launch.grid, tuple(self.described),
                                      reads=self.reads, findings=tuple(findings), **self.columns.arrays()))
        return replace(trace, spots=spots.find(trace))


def predicate(batch, operand) -> np.ndarray:
    """A predicate operand, for each member of the group."""
    inverted = isinstance(operand, Not)
    value = batch.registers[(operand.register if inverted else operand).name]
    return np.broadcast_to(np.logical_xor(value, inverted), (batch.group.n,))


def readable(values: np.ndarray, i: Instruction | None) -> np.ndarray:
    """Values as the numbers that they stand for: 32 bits without a type are taken for a float."""
    if values.dtype.kind == "f" or values.dtype.itemsize != 4 or i is None or i.opcode[-1][0] in "su":
        return values
    return np.ascontiguousarray(values).view(np.float32)


def costs(array: Array, access: Access, machine: MachineAccess, members: np.ndarray, reached: np.ndarray) -> dict:
    """What one access of these threads costs, by column; atomics are counted apart."""
    if access.action == "atomic":
        return {"requests": 0, "machine": access.bytes}
    warps, row = np.unique(members // WARP, return_inverse=True)
    rows = np.full((len(warps), WARP), -1)
    rows[row, members % WARP] = reached * array.item_bytes + array.at
    cost = {"words": len(members) * access.words, "requests": len(warps), "machine": access.bytes}
    if array.space == "global":
        return cost | {"sectors": counting.sectors(rows), "wavefronts": counting.lines(rows)}
    if array.space == "local":
        return cost
    rows = machine.requests(rows)
    wavefronts, conflicts = counting.shared_passes(rows, machine.width, access.action == "store")
    return cost | {"requests": len(rows), "wavefronts": wavefronts,
                   "bank_conflicts": conflicts, "machine": machine.width if len(rows) else 0}
