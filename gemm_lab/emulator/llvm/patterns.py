"""Patterns of addresses: finding the entry of a table that describes one, and describing a new one.

Addresses are relative to the first active lane's; a lane that is not active counts as 0.
"""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.functions import Function
from gemm_lab.emulator.llvm.operations import ALL
from gemm_lab.emulator.llvm.structures import (
    BROADCAST,
    BROADCASTS,
    CONTEXT,
    ENTRIES,
    ENTRY,
    PIECE,
    ROW,
    ROWS,
    SCATTERED,
    TABLE,
)
from gemm_lab.emulator.llvm.values import Value

PROBES = 8    # slots of a table in which an entry may be
_ODD = [(2 * k + 1) * 0x9E3779B1 % 2**32 - 2**31 for k in range(WARP)]


def search() -> Function:
    """search(table, relative, lanes, number, base): make a pattern's entry the table's last."""
    f = Function("search", ("table", "ptr"), ("relative", "s32", WARP), ("lanes", "u32"), ("number", "s32"),
                 ("base", "ptr"))
    table, relative, lanes, number, base = f.parameters
    mixed = f.reduce("add", relative * f.vector("s32", _ODD)).seen_as("u32") ^ (lanes * 0x85EBCA6B)
    first = (mixed * 0xC2B2AE35) >> (33 - ENTRIES.bit_length())

    def fill(entry):
        entry[ENTRY.relative], entry[ENTRY.lanes], entry[ENTRY.table] = relative, lanes, number.seen_as("u32")
        table[TABLE.last] = entry
        f.call("describe", entry, table)
        f.ret()
    with f.loop(f.constant("u32", PROBES)) as step:
        place = slot(table, first + step)
        entry = place.load("ptr")
        with f.when(entry.seen_as("u64") == 0):
            new = base[CONTEXT.unused]
            base[CONTEXT.unused] = new + ENTRY.size
            place.store(new)
            fill(new)
        with f.when(((entry[ENTRY.relative] != relative).set() | (entry[ENTRY.lanes] ^ lanes)) == 0):
            table[TABLE.last] = entry
            f.ret()
    entry = slot(table, first).load("ptr")    # no room: somebody must go
    f.call("look_at_log", base)    # it may refer to the entry that is replaced now
    f.call(base[CONTEXT.forget], entry)
    f.clear(entry + ENTRY.hits.at, f.constant("u64", 8 * ENTRY.hits.lanes))
    fill(entry)
    return f


def slot(table: Value, number: Value) -> Value:
    """The place in a table where the address of an entry is kept."""
    return table + ((number & (ENTRIES - 1)).to("u64") * 8 + TABLE.entries.at)


def describe() -> Function:
    """describe(entry, table): bounds, kind and moves of a new entry."""
    f = Function("describe", ("entry", "ptr"), ("table", "ptr"))
    entry, table = f.parameters
    relative, lanes, stride = entry[ENTRY.relative], entry[ENTRY.lanes], table[TABLE.stride]
    entry[ENTRY.low] = f.reduce("smin", relative).to("s64")
    entry[ENTRY.high] = f.reduce("smax", relative).to("s64") + table[TABLE.bytes].to("s64")
    entry[ENTRY.bits] = f.reduce("or", relative).to("s64")
    entry[ENTRY.kind] = kind(f, entry, table)
    first = f.intrinsic("cttz", lanes, flag=False).seen_as("s32")    # what it sees, lanes that are not active read
    entry[ENTRY.moves] = relative + f.select(lanes.predicates(), f.vector("s32", range(WARP)), first) * stride
    f.ret()
    return f


def kind(f: Function, entry: Value, table: Value) -> Value:
    """Which pattern the elements of the lanes make."""
    relative, size = entry[ENTRY.relative], table[TABLE.bytes]
    lane = f.vector("s32", range(WARP))
    starts = f.join([(entry + (ENTRY.relative.at + 4 * n)).load("s32").broadcast(PIECE) for n in range(0, WARP, PIECE)])
    one_copy = table[TABLE.stride] == 0
    whole = one_copy & (entry[ENTRY.lanes] == ALL)
    dense = whole & (size == table[TABLE.element_bytes])    # rows of elements leave nothing out
    found = f.constant("u32", SCATTERED)
    for pattern, expected, possible in ((ROWS, starts + (lane & PIECE - 1) * size, dense), (ROW, lane * size, dense),
                                        (BROADCASTS, starts, whole), (BROADCAST, relative.like(0), one_copy)):
        found = f.select(possible & (f.reduce("or", relative ^ expected) == 0), f.constant("u32", pattern), found)
    return found
