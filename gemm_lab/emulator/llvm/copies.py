"""Asynchronous copies from global to shared memory (cp.async), outside check mode: see `emulator.copies`.

A copy reads at once. What it has read waits in a ring of the warp's copies until the warp waits for it. All lanes of a
warp that live must commit and wait together; otherwise the launch is left to the NumPy back end.
"""

from __future__ import annotations

from gemm_lab.copy_wavefronts import SECTORS
from gemm_lab.counts import LINE_BYTES, WARP
from gemm_lab.emulator.llvm import control
from gemm_lab.emulator.llvm.footprints import FARTHEST, NOTHING
from gemm_lab.emulator.llvm.functions import Function
from gemm_lab.emulator.llvm.operations import ALL, Operation
from gemm_lab.emulator.llvm.races import MANY, numbers
from gemm_lab.emulator.llvm.requests import Request, differ
from gemm_lab.emulator.llvm.structures import CONTEXT, COPIES, COPY, ENTRY, EXIT, PATTERN_BYTES, TABLE, WINDOW
from gemm_lab.emulator.llvm.values import Value

WORDS = 4 * WARP    # bytes of one word of each lane


def ring(f: Function, base: Value, number: Value) -> Value:
    """The place of a copy of the warp that runs."""
    slot = base[CONTEXT.warp].to("u64") * COPIES + (number & (COPIES - 1)).to("u64")
    return base[CONTEXT.copies] + slot * COPY.size


def issue(name: str, size: int) -> Operation:
    """cp.async: where it will land. Operands: footprint, access."""
    f = Request(name)
    f.reach(0, 1, size, noted=False)
    f.require(f.base[WINDOW.issued] - f.base[WINDOW.landed] < COPIES)
    copy = ring(f, f.base, f.base[WINDOW.issued])
    f.copy(copy, f.entry, f.constant("u64", PATTERN_BYTES))
    copy[COPY.address], copy[COPY.where], copy[COPY.access] = f.address, f.where, f.access
    copy[COPY.commit], copy[COPY.count] = f.base[WINDOW.commits], size // 4
    f.clear(copy + COPY.words.at, f.constant("u64", WORDS * size // 4))    # lanes that read nothing bring zeros
    f.base[WINDOW.issued] = f.base[WINDOW.issued] + 1
    f.next()
    return f


def meet(name: str, to: str, source: str, bypass: bool) -> Operation:
    """Count what a copy costs because of both its ends: see `footprints.Meeting`.

    Operands: the address registers of both ends (in shared and in global memory), bytes to copy, what is added to the
    addresses (modulo a line, 7 bits each), table, number of the table.
    """
    f = Operation(name)
    added, table, number = f.operand(3), f.place(4), f.operand(5)
    target = f.place(0).load(to, WARP).to("s64") + (added & LINE_BYTES - 1).to("s64")
    from_ = f.place(1).load(source, WARP).to("s64") + (added >> 7).to("s64")
    brings = f.read(2, "s32") > 0
    if bypass:
        line, sector = (from_first(f, addresses >> shift) for addresses, shift in ((from_, 7), (target, 5)))
        f.require((line < 2 * FARTHEST) & (sector < SECTORS))
        packed = f.select(brings, ((line - FARTHEST) * SECTORS | sector).to("s32"), NOTHING)
    else:    # it matters who shares a bank, not with which bank they begin
        low, high = (from_first(f, addresses) & 127 for addresses in (from_, target))
        packed = (low | high << 7 | f.select(brings, low.like(1 << 14), 0)).to("s32")
    packed = f.select(f.lanes, packed, 0)
    last = table[TABLE.last]
    with f.when(differ(f, last, packed, last[ENTRY.relative])):
        f.call("search", table, packed, f.mask, number, f.base)
    hits = table[TABLE.last] + ENTRY.hits.at
    hits.store(hits.load("u64") + 1)
    f.next()
    return f


def from_first(f: Operation, values: Value) -> Value:
    """What the active lanes' values exceed the least of them by; 0 for the others."""
    least = f.reduce("umin", f.select(f.lanes, values.seen_as("u64"), 2**64 - 1))
    return f.select(f.lanes, values - least.seen_as("s64"), 0)


def some(name: str) -> Operation:
    """Only lanes that copy something execute what follows. Operands: bytes to copy; bytes to skip, if none does."""
    f = Operation(name)
    control.narrow(f, (f.read(0, "s32") > 0).set())
    return f


def read(name: str, size: int) -> Operation:
    """What the copy that was issued last brings. Operands: footprint, access, bytes to copy; zeros follow."""
    f = Request(name)
    f.reach(0, 1, size)
    valid = f.read(2, "s32")
    copy = ring(f, f.base, f.base[WINDOW.issued] - 1)
    for k in range(size // 4):
        word, left = f.take("s32", 4 * k), valid - 4 * k
        part = word & ((word.like(1) << ((left & 3) << 3)) - 1)
        word = f.select(left >= 4, word, f.select(left > 0, part, 0))
        place = copy + (COPY.words.at + WORDS * k)
        place.store(f.select(f.lanes, word, place.load("s32", WARP)))
    f.next()
    return f


def commit(name: str) -> Operation:
    """cp.async.commit_group."""
    f = Operation(name)
    require_all(f)
    f.base[WINDOW.commits] = f.base[WINDOW.commits] + 1
    f.next()
    return f


def wait(name: str) -> Operation:
    """cp.async.wait_group. Operands: how many of the newest groups need not have landed; -1: wait for everything."""
    f = Operation(name)
    require_all(f)
    newest = f.operand(0)
    limit = f.base[WINDOW.commits].seen_as("s32") - newest    # past the current group, if newest is -1
    with f.loop(f.base[WINDOW.issued] - f.base[WINDOW.landed]):
        copy = ring(f, f.base, f.base[WINDOW.landed])
        with f.when(copy[COPY.commit].seen_as("s32") < limit):
            f.call("land", copy, f.base)
            f.base[WINDOW.landed] = f.base[WINDOW.landed] + 1
    f.next()
    return f


def require_all(f: Operation) -> None:
    gone = (f.base[WINDOW.pcs] == EXIT).set()
    f.require((f.mask | gone) == ALL)


def land() -> Function:
    """land(copy, base): put the words where they belong."""
    f = Function("land", ("copy", "ptr"), ("base", "ptr"))
    copy, base = f.parameters
    epoch = base[CONTEXT.epoch]
    base[CONTEXT.written] = 1
    f.call("look", copy[COPY.address], copy, copy[COPY.access], numbers(base, base[CONTEXT.warp]) + epoch, epoch,
           base[CONTEXT.oldest], epoch + MANY, base)
    with f.loop(copy[COPY.count]) as k:
        f.call("scatter_32", copy[COPY.where] + k.to("u64") * 4, copy[COPY.moves], copy[COPY.lanes],
               (copy + COPY.words.at + k.to("u64") * WORDS).load("s32", WARP))
    f.ret()
    return f
