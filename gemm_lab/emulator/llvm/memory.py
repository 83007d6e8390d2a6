"""What memory requests call: finding a region, and moving the elements of 32 lanes."""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.functions import Function
from gemm_lab.emulator.llvm.structures import (
    ACCESS,
    BROADCAST,
    BROADCASTS,
    CONTEXT,
    ENTRY,
    GENERIC,
    PIECE,
    REGION,
    ROW,
    ROWS,
)
from gemm_lab.emulator.llvm.values import bits

TAG = 56    # generic addresses say from this bit on which memory they mean
SPACES_AT, SPACE_BYTES = CONTEXT.spaces.at, 24


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
    with f.when(access[ACCESS.end] > access[ACCESS.first]):    # the log may refer to the region that it has had
        f.call("look_at_log", base)
    access[ACCESS.first], access[ACCESS.end] = first, end
    access[ACCESS.move] = region[REGION.move] - tag
    access[ACCESS.stamps] = region[REGION.stamps] - tag
    access[ACCESS.far], access[ACCESS.noted] = region[REGION.far], region[REGION.noted]
    f.ret(f.constant("pred", True))
    return f
