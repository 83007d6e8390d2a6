"""The steps of instructions that move data: ld, st, atom, red, cp.async."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemm_lab.emulator import atomics, copies, requests, warp
from gemm_lab.emulator.instructions import TYPES
from gemm_lab.emulator.memory import Access
from gemm_lab.emulator.operands import kept_as
from gemm_lab.emulator.ptx import SIZES, Address, Immediate, Instruction, Register, Symbol, Unsupported, number

SPACES = ("global", "shared", "local", "const", "param")
# Cache hints and memory orders: they change when something happens on a GPU, not what.
HINTS = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "cluster", "nc", "ca",
         "cg", "cs", "lu", "cv", "wb", "wt"}


def access(decoder, i: Instruction, action: str, address: Address, dtype: type, width: int = 1,
           space: str | None = None, copies: bool = False) -> tuple[Access, Callable]:
    """The access, and a function from the batch to the addresses without their offset."""
    space = space or next((s for s in SPACES if any(part.split("::")[0] == s for part in i.opcode)), None)
    base, offset = split(address)
    found = Access(len(decoder.accesses), decoder.index_of[id(i)], i.line, space, action, dtype, width, offset,
                   "cas" in i.opcode, action == "load" and i in decoder.feeding_cas, is_signal(i, action, dtype),
                   i in decoder.polling,
                   bool({"release", "acq_rel"} & set(i.opcode)) and "cta" not in i.opcode, decoder.is_answered(i),
                   decoder.arrays_of(i), copies)
    decoder.accesses.append(found)
    kind = "s" + base.type[1:] if isinstance(base, Register) else "s64"
    return found, decoder.source(base, kind)


def split(address: Address) -> tuple[Register | Symbol | Immediate, int]:
    """A register or a symbol without an offset, and the offset."""
    base, offset = address.base, address.offset
    return (Symbol(base.name), offset + base.offset) if isinstance(base, Symbol) else (base, offset)


def is_signal(i: Instruction, action: str, dtype: type) -> bool:
    """Whether the access may be how threads wait for each other. A volatile float is data, a volatile int a flag."""
    strong = bool({"relaxed", "acquire", "release", "acq_rel"} & set(i.opcode))
    return action == "atomic" or strong or "volatile" in i.opcode and np.issubdtype(dtype, np.integer)


def element(i: Instruction) -> tuple[str, int]:
    """(PTX type, elements of each thread) of a load or store; raises Unsupported for a modifier that is not known."""
    kind, width = i.opcode[-1], 1
    for part in i.opcode[1:-1]:
        if part in ("v2", "v4", "v8"):
            width = int(part[1:])
        elif part not in HINTS and part.split("::")[0] not in (*SPACES, "L1", "L2"):
            raise Unsupported(f"`{i.text}`")
    if kind not in TYPES or len(i.operands) != 2:
        raise Unsupported(f"`{i.text}`")
    return kind, width


def as_kept(kind: str, operands) -> str:
    """A load or store of whole registers moves bits: then the type is the one in which registers are kept."""
    sizes = {SIZES.get(operand.type) for operand in operands if isinstance(operand, Register)}
    return "s" + kind[1:] if kind[0] in "bu" and sizes <= {SIZES[kind]} else kind


def vector(operand) -> tuple:
    return operand if isinstance(operand, tuple) else (operand,)


def load(decoder, i: Instruction):
    if i.opcode[1] == "param":
        return parameter(decoder, i)
    kind, width = element(i)
    targets = vector(i.operands[0])
    kind = as_kept(kind, targets)
    reads, base = access(decoder, i, "load", i.operands[1], TYPES[kind], width)
    writes = [decoder.writer(target, kind) for target in targets]

    def step(b):
        values = requests.load(b, reads, base(b))
        if values is None:
            return requests.in_parts(b, reads, base(b), step)
        for write, value in zip(writes, values):
            write(b, value)
    return step


def store(decoder, i: Instruction):
    kind, width = element(i)
    sources = vector(i.operands[1])
    kind = as_kept(kind, sources)
    writes, base = access(decoder, i, "store", i.operands[0], TYPES[kind], width)
    values = [decoder.source(source, kind) for source in sources]

    def step(b):
        if not requests.store(b, writes, base(b), [value(b) for value in values]):
            requests.in_parts(b, writes, base(b), step)
    return step


def parameter(decoder, i: Instruction):
    """ld.param: an argument of the launch."""
    kind, _ = element(i)
    address = i.operands[1]
    first, dtype, size = address.offset + address.base.offset, TYPES[kind], SIZES[kind]
    writes = [decoder.writer(target, kind) for target in vector(i.operands[0])]

    def step(b):
        for k, write in enumerate(writes):
            write(b, b.argument(address.base.name, first + k * size, dtype))
    return step


def atomic(decoder, i: Instruction):
    """atom gives back the old value, red does not."""
    returns = i.opcode[0] == "atom"
    address, *sources = i.operands[1:] if returns else i.operands
    kind = next((part for part in reversed(i.opcode) if part in TYPES), "f16")
    update = next((atomics.UPDATES[part] for part in i.opcode if part in atomics.UPDATES), None)
    if kind == "f16" or update is None:
        raise Unsupported(f"`{i.text}`")
    kind = "u" + kind[1:] if kind[0] == "b" else kind
    updates, base = access(decoder, i, "atomic", address, kept_as(kind))
    write = decoder.writer(i.operands[0] if returns else None, kind)
    values, dtype = [decoder.source(source, kind) for source in sources], TYPES[kind]

    def step(b):
        operands = [warp.spread(b.group, value(b)) for value in values]

        def change(old, members):
            return update(old.view(dtype), *(operand[members] for operand in operands)).view(old.dtype)
        old = requests.atomic(b, updates, base(b), change)
        if old is None:
            return requests.in_parts(b, updates, base(b), step)
        write(b, old.view(dtype))
    return step


def copy(decoder, i: Instruction):
    """cp.async: see `copies`."""
    if i.opcode[1] != "async" or "bulk" in i.opcode or "mbarrier" in i.opcode:
        raise Unsupported(f"`{i.text}`")
    if "commit_group" in i.opcode:
        return lambda b: b.copies.commit(b.group.members)
    if "wait_all" in i.opcode:
        return lambda b: b.copies.land(b, b.group.members, None)
    if "wait_group" in i.opcode:
        newest = number(i.operands[0].text)
        return lambda b: b.copies.land(b, b.group.members, newest)
    to, from_, size, *rest = i.operands
    if not isinstance(size, Immediate) or number(size.text) not in (4, 8, 16):
        raise Unsupported(f"`{i.text}`")
    width = number(size.text) // 4
    writes, target = access(decoder, i, "store", to, np.int32, width, "shared", copies=True)
    reads, source = access(decoder, i, "load", from_, np.int32, width, "global", copies=True)
    valid = decoder.source(rest[0], "s32") if rest else lambda b: np.int32(4 * width)
    bypass = "cg" in i.opcode
    return lambda b: copies.start(b, writes, target(b), reads, source, valid(b), bypass)


STEPS = {"ld": load, "ldu": load, "st": store, "atom": atomic, "red": atomic, "cp": copy}
