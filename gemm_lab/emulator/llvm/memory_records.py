"""The records of loads, stores and asynchronous copies. `asm` is the assembler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gemm_lab.counts import LINE_BYTES
from gemm_lab.emulator import memory_steps
from gemm_lab.emulator.llvm import copies, requests
from gemm_lab.emulator.llvm.code import Access, TableAt
from gemm_lab.emulator.llvm.footprints import End, Meeting, Table
from gemm_lab.emulator.llvm.operations import compute, kept
from gemm_lab.emulator.llvm.structures import ACCESS, FOOTPRINT
from gemm_lab.emulator.llvm.values import bits
from gemm_lab.emulator.ptx import SIZES, Address, Immediate, Instruction, Unsupported, number
from gemm_lab.machine_loads import MachineAccess

SPACES = "global", "shared", "local", "const"


def load(asm, i: Instruction) -> None:
    if i.opcode[1] == "param":
        return parameter(asm, i)
    kind, width = memory_steps.element(i)
    targets = memory_steps.vector(i.operands[0])
    where = reach(asm, i, "load", i.operands[1], kind, width)
    asm.arena.finished(asm.n)
    move(asm, "load", kind, targets, [asm.target(target, kind) for target in targets], where)


def store(asm, i: Instruction) -> None:
    kind, width = memory_steps.element(i)
    sources = memory_steps.vector(i.operands[1])
    where = reach(asm, i, "store", i.operands[0], kind, width)
    move(asm, "store", kind, sources, [asm.source(source, kind) for source in sources], where)


def move(asm, name: str, kind: str, registers, places: list[int], where: tuple[int, int]) -> None:
    """The record that moves the elements."""
    kinds = {asm.kept_as(r, kind) for r in registers if r is not None}
    if len(kinds) != 1:
        raise Unsupported(f"a {name} of registers of different types")
    options = {"kind": kind, "register": kinds.pop(), "width": len(places)}
    asm.emit((name, *options.values()), partial(getattr(requests, name), **options), *places, *where)


def reach(asm, i: Instruction, action: str, address: Address, kind: str, width: int, space: str | None = None,
          sort: Callable[..., Table] = Table) -> tuple[int, int]:
    """The places of a request's footprint and of its access. `sort` makes its tables."""
    space = space or next((s for s in SPACES if any(part.split("::")[0] == s for part in i.opcode)), None)
    if kind == "f16" or not 8 <= bits(kind) <= 64:
        raise Unsupported(f"`{i.text}`")
    (base, offset), size = memory_steps.split(address), bits(kind) // 8 * width
    machine = asm.shared.accesses.get(asm.index_of.get(id(i))) or MachineAccess(size, True)
    stride = {"local": asm.arena.local_stride}
    tables = [sort(i.line, name, action, size, bits(kind) // 8, stride.get(name, 0), machine)
              for name in ([space] if space else SPACES[:3])]
    access = Access(asm.arena.take(ACCESS.size), space, action, offset, max(size // 4, 1))
    asm.accesses.append(access)
    return footprint(asm, base, tables), access.at


def footprint(asm, base, tables: list[Table]) -> int:
    """The footprint of an address register; accesses of one sort with different offsets share it."""
    key = getattr(base, "name", base), *tables
    if key not in asm.footprints:
        first, generic = len(asm.tables), len(tables) > 1
        asm.tables += tables
        asm.footprints[key] = asm.arena.take(FOOTPRINT.size)
        register = asm.kept_as(base, "s64")
        asm.emit(("footprint", register, generic), partial(requests.footprint, register=register, generic=generic),
                 asm.source(base, "s64"), asm.footprints[key], TableAt(first), first)
    return asm.footprints[key]


def parameter(asm, i: Instruction) -> None:
    """ld.param: an argument of the launch, which lies among the constants."""
    kind, _ = memory_steps.element(i)
    kind = "b" + kind[1:] if kind[0] == "f" else kind
    address = i.operands[1]
    first, have = address.offset + address.base.offset, ((kind, kept(kind)),)
    for k, target in enumerate(memory_steps.vector(i.operands[0])):
        result = asm.arena.kinds[target.name]
        asm.emit(("parameter", *have, result), partial(compute, function=lambda a: a, sources=have, result=result),
                 asm.arena.place(target), asm.constant("parameter", kind, address.base.name, first + k * SIZES[kind]))


def copy(asm, i: Instruction) -> None:
    """cp.async: see `copies`."""
    if i.opcode[1] != "async" or asm.check or {"bulk", "mbarrier"} & set(i.opcode):
        raise Unsupported(f"`{i.text}`")
    if "commit_group" in i.opcode:
        return asm.emit(("commit",), copies.commit)
    if "wait_all" in i.opcode or "wait_group" in i.opcode:
        newest = -1 if "wait_all" in i.opcode else number(i.operands[0].text)
        return asm.emit(("wait",), copies.wait, newest)
    to, from_, amount, *rest = i.operands
    size = number(amount.text)
    if not isinstance(amount, Immediate) or size not in (4, 8, 16):
        raise Unsupported(f"`{i.text}`")
    end = partial(End, bypass="cg" in i.opcode)
    asm.emit(("issue", size), partial(copies.issue, size=size),
             *reach(asm, i, "store", to, "b32", size // 4, "shared", end))
    valid = asm.source(rest[0] if rest else amount, "s32")
    meet(asm, i, to, from_, size, valid)
    if not rest:
        return read(asm, i, from_, size, valid, end)
    with asm.narrowed(("some",), copies.some, valid):
        read(asm, i, from_, size, valid, end)


def meet(asm, i: Instruction, to: Address, from_: Address, size: int, valid: int) -> None:
    """What a copy costs because of both its ends."""
    bypass = "cg" in i.opcode
    space, action = ("global", "load") if bypass else ("shared", "store")
    (target, added), (source, more) = map(memory_steps.split, (to, from_))
    kinds = asm.kept_as(target, "s64"), asm.kept_as(source, "s64")
    number, added = len(asm.tables), added % LINE_BYTES + more % LINE_BYTES * LINE_BYTES
    asm.tables.append(Meeting(i.line, space, action, size, 4, 0, MachineAccess(size, True), bypass))
    asm.emit(("meet", *kinds, bypass), partial(copies.meet, to=kinds[0], source=kinds[1], bypass=bypass),
             asm.source(target, "s64"), asm.source(source, "s64"), valid, added, TableAt(number), number)


def read(asm, i: Instruction, address: Address, size: int, valid: int, end: Callable[..., Table]) -> None:
    """What a copy brings."""
    asm.emit(("read", size), partial(copies.read, size=size),
             *reach(asm, i, "load", address, "b32", size // 4, "global", end), valid)


STEPS = {"ld": load, "ldu": load, "st": store, "cp": copy}
