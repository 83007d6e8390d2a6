"""Memory requests of one warp: the operations for loads and stores.

`footprint` recognises a pattern of addresses, relative to the first active lane, or describes a new one (see
`patterns`). Bounds and alignment of a request follow from its pattern and one address, and so does what it costs: it is
enough to count how often a pattern occurs (`hits`). Then the elements of the lanes move, all at once where they lie in
a row or are the same.
"""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.memory import TAG
from gemm_lab.emulator.llvm.operations import ALL, Operation
from gemm_lab.emulator.llvm.structures import (
    ACCESS,
    BROADCAST,
    ENTRY,
    FOOTPRINT,
    FREELY,
    GENERIC,
    ROW,
    TABLE,
)
from gemm_lab.emulator.llvm.values import Value, bits


def footprint(name: str, register: str, generic: bool) -> Operation:
    """Recognise where the lanes reach. Operands: address register, result, table, number of the table.

    A generic address has three tables: for global, shared and local memory.
    """
    f = Operation(name)
    address, now, table, number = f.read(0, register), f.place(1), f.place(2), f.operand(3)
    first = f.intrinsic("cttz", f.mask, flag=False)
    anchor = (f.place(0) + first * (bits(register) // 8)).load(register).to("s64")
    if generic:
        space = (anchor >> TAG) & 3
        table, number = table + space * TABLE.size, number + space.to("s32")
        f.require(space < GENERIC)
    entry = table[TABLE.last]
    now[FOOTPRINT.entry], now[FOOTPRINT.anchor] = entry, anchor
    expected = entry[ENTRY.relative].to(register) + anchor.to(register)
    with f.when(differ(f, entry, address, expected)):
        distance = f.select(f.lanes, address.to("s64") - anchor, 0)
        relative = distance.to("s32")
        f.require(relative.to("s64") == distance)    # lanes that are so far apart do not all reach the same array
        f.call("search", table, relative, f.mask, number, f.base)
        now[FOOTPRINT.entry] = table[TABLE.last]
    f.next()
    return f


def differ(f: Operation, entry: Value, values: Value, expected: Value) -> Value:
    """Whether an active lane has another value than expected, or the entry describes other lanes."""
    return (((values != expected).set() & f.mask) | (entry[ENTRY.lanes] ^ f.mask)) != 0


class Request(Operation):
    """An operation that loads or stores. `where` is where the first active lane's first element is."""

    def reach(self, footprint: int, access: int, size: int, noted: bool = True) -> None:
        """Check bounds and alignment, count, and note who was there; operands `footprint` and `access` say where."""
        now, self.access = self.place(footprint), self.place(access)
        access = self.access
        self.entry = entry = now[FOOTPRINT.entry]
        address = now[FOOTPRINT.anchor] + access[ACCESS.offset]
        low, high = address + entry[ENTRY.low], address + entry[ENTRY.high]
        with self.unless((low >= access[ACCESS.first]) & (high <= access[ACCESS.end])):
            self.require(self.call("find_region", access, low, high, self.base, result="pred"))
        if size > 1:
            self.require(((address | entry[ENTRY.bits]) & (size - 1)) == 0)
        phase = (address >> 2) & 31 if size >= 4 else ((address >> 2) & 31) | ((address & 3) << 5)
        hits = entry + (phase * 8 + ENTRY.hits.at)
        hits.store(hits.load("u64") + 1)
        if noted:
            with self.when(access[ACCESS.noted] != FREELY):
                self.call("note", address, entry, access, self.base)
        self.address = address
        self.where = (address + access[ACCESS.move]).seen_as("ptr")

    def take(self, kind: str, offset: int) -> Value:
        """What the lanes find `offset` bytes behind their addresses."""
        return self.call(f"take_{bits(kind)}", self.where + offset, self.entry, result=f"s{bits(kind)}",
                         lanes=WARP).seen_as(kind)

    def give(self, value: Value, offset: int) -> None:
        """Store what the lanes hold."""
        self.call(f"give_{bits(value.kind)}", self.where + offset, self.entry, value.seen_as(f"s{bits(value.kind)}"))


def load(name: str, kind: str, register: str, width: int) -> Operation:
    """Operands: `width` registers, footprint, access."""
    f, size = Request(name), bits(kind) // 8
    f.reach(width, width + 1, size * width)
    if width == 1 and bits(kind) == bits(register):    # the usual ways are worth a shortcut
        with f.when(f.entry[ENTRY.kind] == ROW):
            f.place(0).store(f.where.load(kind, WARP))
            f.next()
        with f.when((f.entry[ENTRY.kind] == BROADCAST) & (f.mask == ALL)):
            f.place(0).store(f.where.load(kind).broadcast(WARP))
            f.next()
    for k in range(width):
        f.put(k, f.take(kind, k * size), register)
    f.next()
    return f


def store(name: str, kind: str, register: str, width: int) -> Operation:
    """Operands: `width` registers, footprint, access."""
    f, size = Request(name), bits(kind) // 8
    f.reach(width, width + 1, size * width)
    for k in range(width):
        f.give(f.read(k, kind, register), k * size)
    f.next()
    return f
