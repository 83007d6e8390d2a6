"""From a kernel to records: for each instruction the operation that executes it, and where its operands lie.

What is not known here becomes a record that leaves the launch to the NumPy back end, if a thread gets there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from gemm_lab.emulator.decode import NO_EFFECT
from gemm_lab.emulator.flow import EXIT, Barrier, Branch, Jump
from gemm_lab.emulator.instructions import meaning
from gemm_lab.emulator.llvm import control, instructions, memory_records, warp_records
from gemm_lab.emulator.llvm.arena import Arena
from gemm_lab.emulator.llvm.code import Access, Code, TableAt, Target, start
from gemm_lab.emulator.llvm.engine import engine
from gemm_lab.emulator.llvm.footprints import Table
from gemm_lab.emulator.llvm.memory import TAG
from gemm_lab.emulator.llvm.operands import Operands
from gemm_lab.emulator.llvm.operations import Operation, compute
from gemm_lab.emulator.llvm.structures import RECORD_BYTES, TABLE
from gemm_lab.emulator.memory import LOCAL_TAG, SHARED_TAG
from gemm_lab.emulator.program import Program
from gemm_lab.emulator.ptx import SIZES, Immediate, Instruction, Not, Pair, Register, Unsupported, number
from gemm_lab.emulator.shared_requests import SharedRequests


class Assembler(Operands):
    """Assembles one kernel. `shared` says how its shared memory is counted; `check`: for check mode.

    footprints  those that the current basic block knows: (address register, sort of access) -> place
    n           which instruction of the basic block it is
    """

    def __init__(self, program: Program, shared: SharedRequests, check: bool):
        super().__init__(program, Arena(program, check))
        self.shared, self.check = shared, check
        self.index_of = {id(i): n for n, i in enumerate(program.kernel.instructions)}
        self.records: list[list] = []    # key of the operation, operands
        self.starts: list[int] = []      # of each basic block, its first record
        self.counters: list[int] = []
        self.fma: list[tuple[int | None, int]] = []
        self.accesses: list[Access] = []
        self.tables: list[Table] = []
        for n, code in enumerate(program.codes):
            self.block(n, code)

    def emit(self, key: tuple, write: Callable[[str], Operation], *operands) -> None:
        """Add a record. `key` names its operation, which `write` writes, should it be new."""
        engine().want(key, write)
        self.records.append([key, *operands])

    # ---- basic blocks

    def block(self, n: int, code) -> None:
        self.footprints: dict[tuple, int] = {}
        self.arena.begin(code.block)
        self.starts.append(len(self.records))
        self.counters.append(self.arena.take(8))
        self.emit(("enter",), control.enter, self.counters[-1], code.length, n)
        for self.n, i in enumerate(code.block.instructions):
            self.instruction(i)
        self.end(code.end)

    def end(self, end: Jump | Branch | Barrier) -> None:
        if isinstance(end, Jump):
            self.emit(("jump",), control.jump, Target(end.target))
        elif isinstance(end, Branch):
            predicate, taken, otherwise = end.predicate, end.taken, end.otherwise
            if isinstance(predicate, Not):
                predicate, taken, otherwise = predicate.register, otherwise, taken
            self.emit(("branch",), control.branch, self.arena.place(predicate), Target(taken), Target(otherwise))
        elif end.count is None and isinstance(end.number, Immediate) and number(end.number.text) == 0:
            self.barrier(end)
        else:
            self.emit(("leave",), control.leave)

    def barrier(self, end: Barrier) -> None:
        if end.vote is None:
            return self.emit(("barrier",), control.barrier, Target(end.target))
        inverted = isinstance(end.vote, Not)
        predicate = end.vote.register if inverted else end.vote
        self.emit(("voting barrier", inverted), partial(control.voting_barrier, inverted=inverted), Target(end.target),
                  self.arena.place(predicate))

    # ---- instructions

    def instruction(self, i: Instruction) -> None:
        """The records of an instruction."""
        before, footprints = len(self.records), dict(self.footprints)
        try:
            if i.guard is None:
                self.unguarded(i)
            else:
                self.guarded(i)
        except (Unsupported, AttributeError, IndexError, KeyError, TypeError, ValueError):    # as in `decode`
            del self.records[before:]
            self.footprints = footprints
            self.emit(("leave",), control.leave)
        changed = i.writes
        self.footprints = {key: at for key, at in self.footprints.items() if key[0] not in changed}

    def guarded(self, i: Instruction) -> None:
        """@p: only for the lanes whose predicate holds."""
        inverted = isinstance(i.guard, Not)
        predicate = i.guard.register if inverted else i.guard
        with self.narrowed(("guard", inverted), partial(control.guard, inverted=inverted), self.arena.place(predicate)):
            if i.is_fma:
                self.fma.append((i.line, self.arena.take(8)))
                self.emit(("count",), control.count, self.fma[-1][1])
            self.unguarded(i)

    @contextmanager
    def narrowed(self, key: tuple, write: Callable[[str], Operation], place: int) -> Iterator[None]:
        """The records written there are for some lanes only, as an operation with one operand says."""
        first, outside = len(self.records), self.footprints
        self.footprints = {}    # other lanes, other footprints
        self.emit(key, write, place, 0)
        yield
        self.records[first][2] = RECORD_BYTES * (len(self.records) - first)
        self.emit(("unguard",), control.unguard)
        self.footprints = outside

    def unguarded(self, i: Instruction) -> None:
        name = i.opcode[0]
        if name in STEPS:
            STEPS[name](self, i)
        elif name in NO_EFFECT:
            pass
        elif any(isinstance(operand, tuple) for operand in i.operands):
            self.pack(i)
        else:
            self.arithmetic(i)

    # ---- arithmetic

    def arithmetic(self, i: Instruction) -> None:
        found = meaning(i.opcode)
        target, *sources = i.operands
        if len(sources) != len(found.sources):
            raise Unsupported(f"`{i.text}`")
        if isinstance(target, Pair):
            self.compute(("opposite", i.opcode), instructions.opposite(i.opcode), target.second, sources, found.sources,
                         last=False)
            target = target.first
        self.compute(i.opcode, instructions.expression(i.opcode), target, sources, found.sources)

    def compute(self, key, function: Callable, target: Register | None, sources: Sequence, kinds: Sequence[str],
                last: bool = True) -> None:
        """target = function(sources), which are read as these PTX types; `last`: nobody needs the sources once more."""
        places = [self.source(source, kind) for source, kind in zip(sources, kinds)]
        have = [(kind, self.kept_as(source, kind)) for source, kind in zip(sources, kinds)]
        if target is None:
            return
        if last:
            self.arena.finished(self.n)
        result = self.arena.kinds[target.name]
        self.emit((key, *have, result), partial(compute, function=function, sources=have, result=result),
                  self.arena.place(target), *places)

    def pack(self, i: Instruction) -> None:
        """mov between one register and two smaller ones: {%r1, %r2} <-> %rd1."""
        target, source = i.operands
        parts, whole = target if isinstance(target, tuple) else source, "u" + i.opcode[-1][1:]
        if i.opcode[0] != "mov" or len(i.opcode) != 2 or len(parts) != 2:
            raise Unsupported(f"`{i.text}`")
        size = 4 * SIZES[whole]
        part = f"u{size}"
        if not isinstance(target, tuple):
            return self.compute(("pack", whole), lambda a, b: a.to(whole) | (b.to(whole) << size), target, source,
                                (part, part))
        self.compute(("lower", whole), lambda a: a.to(part), target[0], [source], (whole,), last=False)
        self.compute(("upper", whole), lambda a: (a >> size).to(part), target[1], [source], (whole,))

    def to_other_space(self, i: Instruction) -> None:
        """cvta: generic addresses say in their high bits which memory they mean."""
        tag = SHARED_TAG if "shared" in i.opcode else LOCAL_TAG if "local" in i.opcode else 0
        change = -tag if "to" in i.opcode else tag
        self.compute(("cvta", change), lambda a: a + change if change else a, i.operands[0], i.operands[1:], ("b64",))

    def is_in_space(self, i: Instruction) -> None:
        """isspacep: whether a generic address means a kind of memory."""
        tag = {"shared": 1, "local": 2}.get(i.opcode[1].split("::")[0], 0)
        self.compute(("isspacep", tag), lambda a: (a >> TAG) == tag, i.operands[0], i.operands[1:], ("s64",))

    # ---- the end

    def finish(self) -> Code:
        """The records, with addresses in place of names."""
        records = np.zeros((len(self.records), RECORD_BYTES // 4), np.int32)
        addresses = engine().operations()
        for row, (key, *values) in zip(records, self.records):
            row[:2].view(np.int64)[:] = addresses[key]
            row[2:2 + len(values)] = [self.resolved(value) for value in values]
        end = self.arena.top + TABLE.size * len(self.tables)
        return Code(self.program, self.arena, records, self.arena.top, end, self.counters, self.fma,
                    start(self.arena, self.accesses), self.tables, self.constants)

    def resolved(self, operand) -> int:
        if isinstance(operand, Target):
            return EXIT if operand.block == EXIT else RECORD_BYTES * self.starts[operand.block]
        return self.arena.top + TABLE.size * operand.number if isinstance(operand, TableAt) else operand


STEPS = {"cvta": Assembler.to_other_space, "isspacep": Assembler.is_in_space, **memory_records.STEPS,
         **warp_records.STEPS}
