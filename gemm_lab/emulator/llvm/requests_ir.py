"""Loads and stores of one basic block: which functions of `memory_ir` and `races_ir` they call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gemm_lab.emulator import memory_steps
from gemm_lab.emulator.llvm import context as c
from gemm_lab.emulator.llvm.ir import Writer, bits, splat
from gemm_lab.emulator.llvm.operands_ir import Operands
from gemm_lab.emulator.memory import LOCAL_TAG, SHARED_TAG
from gemm_lab.emulator.ptx import SIZES, Instruction, Register, Symbol, Unsupported
from gemm_lab.machine_loads import MachineAccess


@dataclass(frozen=True)
class Table:
    """The footprints of one address register in one basic block, for accesses that have all this in common."""
    space: str                # "global", "const" or "shared"
    action: str               # "load" or "store"
    bytes: int                # of one thread
    element_bytes: int
    machine: MachineAccess    # what the machine makes of those that lead


@dataclass(frozen=True)
class Access:
    """A load or store, as the machine wants to know it."""
    line: int | None
    offset: int
    table: Table
    counted: int              # which fields of its cost count, as `context.COUNTED` wants it


def counted(machine: MachineAccess) -> int:
    """Of words, requests, conflicts and wavefronts, 16 bits each, those that an access adds.

    One that the machine serves along with another adds its words alone.
    """
    return 0xFFFF if machine.leads is False else -1


class Requests(Operands):
    """Adds memory. `mask` holds the active lanes as bits."""

    def __init__(self, kernel, writer: Writer):
        super().__init__(kernel, writer)
        self.footprints: dict[tuple, str] = {}
        self.mask = ""

    def load(self, i: Instruction) -> None:
        if i.opcode[1] == "param":
            return self.parameter(i)
        kind, width = memory_steps.element(i)
        targets = memory_steps.vector(i.operands[0])
        place, entry = self.reach(i, "load", i.operands[1], kind, width)
        self.note(i, "read", place, entry, kind, width)
        for k, target in enumerate(targets):
            t = f"i{bits(kind)}"
            at = self.element(place, k * bits(kind) // 8)
            value = self.w.op(f"call <32 x {t}> @load_{t}(ptr {at}, ptr {entry}, i32 {self.mask})")
            if target is not None:
                self.assign(target, kind if kind[0] != "f" else "b" + kind[1:], value)

    def store(self, i: Instruction) -> None:
        kind, width = memory_steps.element(i)
        t = f"i{bits(kind)}"
        values = [self.source(s, "b" + kind[1:]) for s in memory_steps.vector(i.operands[1])]
        place, entry = self.reach(i, "store", i.operands[0], kind, width)
        self.note(i, "write", place, entry, kind, width)
        for k, value in enumerate(values):
            at = self.element(place, k * bits(kind) // 8)
            self.w.do(f"call void @store_{t}(ptr {at}, ptr {entry}, i32 {self.mask}, <32 x {t}> {value})")

    def element(self, place: str, offset: int) -> str:
        """The place of a later element; it stays null if the request was not fine."""
        if not offset:
            return place
        bad = self.w.op(f"icmp eq ptr {place}, null")
        return self.w.op(f"select i1 {bad}, ptr null, ptr {self.w.at(place, offset)}")

    def note(self, i: Instruction, action: str, place: str, entry: str, kind: str, width: int) -> None:
        """Note who touches which word: see `races_ir`."""
        if "global" in i.opcode and action == "write":
            for k in range(width * bits(kind) // 32):
                self.w.do(f"call void @note_owner(ptr {self.element(place, 4 * k)}, ptr {entry}, i32 {self.mask}, "
                          "ptr %context)")
        if not self.kernel.races or not any(part.startswith("shared") for part in i.opcode):
            return
        now = self.w.load("i32", "%context", c.WARP_NOW)
        single = "true" if bits(kind) == 32 and width == 1 else "false"
        for k in range(width * bits(kind) // 32):
            self.w.do(f"call void @note_{action}(ptr {self.element(place, 4 * k)}, ptr {entry}, i32 {self.mask}, "
                      f"i1 {single}, i32 {now}, ptr %context)")

    def reach(self, i: Instruction, action: str, address, kind: str, width: int) -> tuple[str, str]:
        """Check a request: where its first active lane reaches, and its footprint."""
        space = next((s for s in ("global", "shared", "const") if any(p.split("::")[0] == s for p in i.opcode)), None)
        if space is None or kind == "f16" or bits(kind) not in (32, 64):
            raise Unsupported(f"`{i.text}`")
        base, offset, size = address.base, address.offset, bits(kind) // 8
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), offset + base.offset
        machine = self.kernel.shared.accesses.get(self.kernel.index_of[id(i)]) or MachineAccess(size * width, True)
        leading = replace(machine, leads=None if machine.leads is None else True)
        table = Table(space, action, size * width, size, leading)
        entry = self.footprint(base, table)
        self.kernel.moved.add(f"i{8 * size}")
        self.kernel.accesses.append(Access(i.line, offset, table, counted(machine)))
        counts = "" if self.kernel.count and space != "const" else "_uncounted"
        place = self.w.op(f"call ptr @reach{counts}(ptr {entry}, i64 {len(self.kernel.accesses) - 1}, ptr %context)")
        return place, entry

    def footprint(self, base, table: Table) -> str:
        """The footprint of an address register; accesses with different offsets share it."""
        key = base, self.values[base.name].name if getattr(base, "name", "") in self.values else "", table
        if key in self.footprints and isinstance(base, Register):
            return self.footprints[key]
        address = self.source(base, "s64")
        key = base, self.values[base.name].name if isinstance(base, Register) else "", table
        if key not in self.footprints:
            self.kernel.tables.append(table)
            self.footprints[key] = self.w.op(f"call ptr @footprint(<32 x i64> {address}, i32 {self.mask}, i64 "
                                             f"{len(self.kernel.tables) - 1}, ptr %context)")
        return self.footprints[key]

    def parameter(self, i: Instruction) -> None:
        """ld.param: an argument of the launch."""
        kind, _ = memory_steps.element(i)
        address, w = i.operands[1], self.w
        base = w.load("ptr", "%context", c.PARAMETERS)
        first = self.kernel.parameters[address.base.name] + address.offset + address.base.offset
        for k, target in enumerate(memory_steps.vector(i.operands[0])):
            t = f"i{bits(kind)}"
            value = w.broadcast(t, w.load(t, base, first + k * SIZES[kind]))
            self.assign(target, kind if kind[0] != "f" else "b" + kind[1:], value)

    def address_of_kind(self, i: Instruction) -> None:
        """cvta: generic addresses say in their high bits which memory they mean."""
        tag = SHARED_TAG if "shared" in i.opcode else LOCAL_TAG if "local" in i.opcode else 0
        address = self.source(i.operands[1], "b64")
        if tag:
            address = self.w.op(f"{'sub' if 'to' in i.opcode else 'add'} <32 x i64> {address}, {splat('i64', tag)}")
        self.assign(i.operands[0], "b64", address)
