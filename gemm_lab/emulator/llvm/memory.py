"""What memory requests call: finding a footprint or a region, and moving the elements of 32 lanes."""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.functions import Function
from gemm_lab.emulator.llvm.structures import (
    ACCESS,
    BROADCAST,
    BROADCASTS,
    CONTEXT,
    ENTRIES,
    ENTRY,
    GENERIC,
    PIECE,
    REGION,
    ROW,
    ROWS,
    TABLE,
)
from gemm_lab.emulator.llvm.values import bits

TAG = 56    # generic addresses say from this bit on which memory they mean
SPACES_AT, SPACE_BYTES = CONTEXT.spaces.at, 24


PROBES = 8    # entries of a table that a footprint may have
_ODD = [(2 * k + 1) * 0x9E3779B1 % 2**32 - 2**31 for k in range(WARP)]


def search() -> Function:
    """search(table, relative, lanes, number, base): make a footprint's entry the table's last, described by Python."""
    f = Function("search", ("table", "ptr"), ("relative", "s32", WARP), ("lanes", "u32"), ("number", "s32"),
                 ("base", "ptr"))
    table, relative, lanes, number, base = f.parameters
    mixed = f.reduce("add", relative * f.vector("s32", _ODD)).seen_as("u32") ^ (lanes * 0x85EBCA6B)
    first = (mixed * 0xC2B2AE35) >> (33 - ENTRIES.bit_length())

    def entry_at(slot):
        return table + (slot.to("u64") * ENTRY.size + TABLE.size)

    def describe(slot):
        entry = entry_at(slot)
        entry[ENTRY.relative], entry[ENTRY.lanes], entry[ENTRY.table] = relative, lanes, number.seen_as("u32")
        table[TABLE.last], table[TABLE.used] = entry, table[TABLE.used] | (slot.like(1) << slot)
        f.call(base[CONTEXT.describe], entry)
        f.ret()
    with f.loop(f.constant("u32", PROBES)) as step:
        slot = (first + step) & (ENTRIES - 1)
        entry = entry_at(slot)
        with f.when(((entry[ENTRY.relative] != relative).set() | (entry[ENTRY.lanes] ^ lanes)) == 0):
            table[TABLE.last] = entry
            f.ret()
        with f.when(entry[ENTRY.lanes] == 0):
            describe(slot)
    entry = entry_at(first)    # no room: somebody must go
    f.call("look_at_log", base)    # it may refer to the entry that is replaced now
    f.call(base[CONTEXT.forget], entry)
    f.clear(entry + ENTRY.hits.at, f.constant("u64", 8 * ENTRY.hits.lanes))
    describe(first)
    return f


def take(kind: str) -> Function:
    """take(where, entry): the elements of all lanes."""
    f = Function(f"take_{bits(kind)}", ("where", "ptr"), ("entry", "ptr"), result=kind, lanes=WARP)
    where, entry = f.parameters
    with f.when(entry[ENTRY.kind] == BROADCAST):
        f.ret(where.load(kind).broadcast(WARP))
    with f.when(entry[ENTRY.kind] == ROW):
        f.ret(where.load(kind, WARP))
    starts = [where + (entry + (ENTRY.moves.at + 4 * n)).load("s32") for n in range(0, WARP, PIECE)]
    with f.when(entry[ENTRY.kind] == BROADCASTS):
        f.ret(f.join([start.load(kind).broadcast(PIECE) for start in starts]))
    with f.when(entry[ENTRY.kind] == ROWS):
        f.ret(f.join([start.load(kind, PIECE) for start in starts]))
    # Lanes that are not active read what the first one reads.
    f.ret(f.call(f"gather_{bits(kind)}", where, entry[ENTRY.moves], result=kind, lanes=WARP))
    return f


def give(kind: str) -> Function:
    """give(where, entry, values): store the elements of the active lanes; of several at one place the last one wins."""
    f = Function(f"give_{bits(kind)}", ("where", "ptr"), ("entry", "ptr"), ("values", kind, WARP))
    where, entry, values = f.parameters
    with f.when(entry[ENTRY.kind] == ROW):
        where.store(values)
        f.ret()
    f.call(f"scatter_{bits(kind)}", where, entry[ENTRY.moves], entry[ENTRY.lanes], values)
    f.ret()
    return f


def gather(kind: str) -> Function:
    """gather(where, moves): an element at each of 32 places."""
    f = Function(f"gather_{bits(kind)}", ("where", "ptr"), ("moves", "s32", WARP), result=kind, lanes=WARP)
    where, moves = f.parameters
    f.ret(f.gather(kind, where + moves))
    return f


def scatter(kind: str) -> Function:
    """scatter(where, moves, lanes, values): store the elements of a set of lanes, one after the other."""
    f = Function(f"scatter_{bits(kind)}", ("where", "ptr"), ("moves", "s32", WARP), ("lanes", "u32"),
                 ("values", kind, WARP))
    where, moves, lanes, values = f.parameters
    f.scatter(values, where + moves, lanes.predicates())
    f.ret()
    return f


def find_region() -> Function:
    """find_region(access, low, high, base): let an access remember the region of an address range; false if it is none,
    or one that it must not reach."""
    f = Function("find_region", ("access", "ptr"), ("low", "s64"), ("high", "s64"), ("base", "ptr"), result="pred")
    access, low, high, base = f.parameters
    generic = access[ACCESS.space] == GENERIC
    space = f.select(generic, (low >> TAG).to("u32"), access[ACCESS.space])
    with f.when((space >= GENERIC) | (generic & (access[ACCESS.seen] != 0) & (access[ACCESS.seen] != space + 1))):
        f.ret(f.constant("pred", False))
    access[ACCESS.seen] = space + 1
    row = base + (space.to("u64") * SPACE_BYTES + SPACES_AT)
    tag = f.select(generic, space.to("s64") << TAG, 0)
    number = ((low - tag) >> (row + 8).load("s64")).seen_as("u64")
    with f.when(number >= (row + 16).load("u64")):
        f.ret(f.constant("pred", False))
    region = row.load("ptr") + number * REGION.size
    first, end = region[REGION.first] + tag, region[REGION.end] + tag
    required = access[ACCESS.required]
    with f.unless((low >= first) & (high <= end) & (high > low) & ((region[REGION.flags] & required) == required)):
        f.ret(f.constant("pred", False))
    access[ACCESS.first], access[ACCESS.end] = first, end
    access[ACCESS.move] = region[REGION.move] - tag
    access[ACCESS.stamps] = region[REGION.stamps] - tag
    access[ACCESS.far], access[ACCESS.noted] = region[REGION.far], region[REGION.noted]
    f.ret(f.constant("pred", True))
    return f
