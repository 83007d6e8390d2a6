"""Who touches which word, so that nothing depends on an order that nobody fixed.

Every word of shared memory, of local memory and of the arrays to which the kernel could write has two *stamps*: who
wrote it last, and who read it. A stamp is the epoch plus a number: of the thread in check mode, of the warp elsewhere
(there the lanes of a warp take their fixed order). Two different numbers in one epoch, one of them a writer's, make a
conflict; for global memory the whole launch is one epoch. In check mode a stamp older than the block means that nobody
has written the word. The machine code only finds that out, and stops; the NumPy back end, which knows about
__syncwarp, flags and equal values, says whether it is a defect, and computes what comes out.

Most epochs only read, or only write. So requests to shared and local memory are written down in a log, which is looked
at when the epoch ends, and outside check mode only if somebody wrote in it; or earlier, if it is full or refers to a
footprint that is about to be replaced.
"""

from __future__ import annotations

from gemm_lab.counts import WARP, WORD_BYTES
from gemm_lab.emulator.llvm.functions import Function
from gemm_lab.emulator.llvm.structures import (
    ACCESS,
    CONTEXT,
    ENTRY,
    EPOCH,
    LAST_EPOCH,
    LATER,
    LOCALLY,
    LOG,
    MANY,
    ROW,
)
from gemm_lab.emulator.llvm.values import Value

ANYBODY = 2**31 - 1    # MANY, for global memory
NUMBERS = 4 * WARP     # bytes of the numbers of a warp


def note() -> Function:
    """note(address, entry, access, base): somebody reaches words that are looked after."""
    f = Function("note", ("address", "s64"), ("entry", "ptr"), ("access", "ptr"), ("base", "ptr"))
    address, entry, access, base = f.parameters
    with f.when(access[ACCESS.noted] != LATER):
        f.call("look_now", address, entry, access, base)
        f.ret()
    item = base[CONTEXT.log_end]
    item[LOG.address], item[LOG.entry], item[LOG.access] = address, entry, access
    item[LOG.warp] = base[CONTEXT.warp]
    base[CONTEXT.log_end] = item + LOG.size
    base[CONTEXT.written] = base[CONTEXT.written] | access[ACCESS.writes]
    with f.when(item.seen_as("u64") >= base[CONTEXT.log_limit].seen_as("u64")):
        f.call("look_at_log", base)
    f.ret()
    return f


def numbers(base: Value, warp: Value) -> Value:
    """The numbers of the lanes of a warp, within the block."""
    return (base[CONTEXT.numbers] + warp.to("u64") * NUMBERS).load("u32", WARP)


def look_now() -> Function:
    """look_now(address, entry, access, base): global memory, where the whole launch is one epoch, or local memory."""
    f = Function("look_now", ("address", "s64"), ("entry", "ptr"), ("access", "ptr"), ("base", "ptr"))
    address, entry, access, base = f.parameters
    me, epoch, one = numbers(base, base[CONTEXT.warp]), base[CONTEXT.epoch], f.constant("u32", 1)
    with f.when(access[ACCESS.noted] == LOCALLY):
        f.call("look", address, entry, access, me + epoch, epoch, base[CONTEXT.oldest], epoch + MANY, base)
        f.ret()
    f.call("look", address, entry, access, me + base[CONTEXT.first], one, one - 1, one.like(ANYBODY), base)
    f.ret()
    return f


def look_at_log() -> Function:
    """look_at_log(base): look at what was written down."""
    f = Function("look_at_log", ("base", "ptr"))
    base, = f.parameters
    epoch, oldest = base[CONTEXT.epoch], base[CONTEXT.oldest]
    bytes_ = base[CONTEXT.log_end].seen_as("u64") - base[CONTEXT.log].seen_as("u64")
    with f.loop(bytes_ / LOG.size) as k:
        item = base[CONTEXT.log] + k * LOG.size
        f.call("look", item[LOG.address], item[LOG.entry], item[LOG.access], numbers(base, item[LOG.warp]) + epoch,
               epoch, oldest, epoch + MANY, base)
    base[CONTEXT.log_end] = base[CONTEXT.log]
    f.ret()
    return f


def look() -> Function:
    """Compare and change the stamps of one request.

    me      stamps of the lanes
    epoch   the lowest stamp of this epoch
    oldest  the lowest one that counts as written
    many    the stamp of several readers
    """
    f = Look("look", ("address", "s64"), ("entry", "ptr"), ("access", "ptr"), ("me", "u32", WARP), ("epoch", "u32"),
             ("oldest", "u32"), ("many", "u32"), ("base", "ptr"))
    address, entry, access, *_ = f.parameters
    stamps = (access[ACCESS.stamps] + (address & -4)).seen_as("ptr")
    moves = (entry[ENTRY.moves] + (address & 3).to("s32")) & -4    # whole words
    one_row = (entry[ENTRY.kind] == ROW) & (entry[ENTRY.high] - entry[ENTRY.low] == WARP * WORD_BYTES)
    with f.when(one_row):    # the usual way is worth a shortcut
        f.compare(stamps, InARow())
        f.ret()
    with f.loop(access[ACCESS.words]) as k:
        f.compare(stamps + k.to("u64") * WORD_BYTES, Scattered(f, moves))
    f.ret()
    return f


class Look(Function):
    """`look`, while it is being written."""

    def compare(self, written: Value, words: InARow | Scattered) -> None:
        """Compare and change the stamps of one word of each lane: `written` is where those of the writers are."""
        _, entry, access, me, epoch, oldest, many, base = self.parameters
        lanes, read = entry[ENTRY.lanes], written + access[ACCESS.far]
        writer, reader = words.gather(written), words.gather(read)
        conflict = foreign(writer, me, epoch)
        with self.when(access[ACCESS.writes] == 0):
            stop(self, base, conflict | (writer < oldest), lanes)
            stamp = self.select(foreign(reader, me, epoch), many, me)
            words.scatter(read, lanes, stamp)
            several = (words.gather(read) != stamp).set() & lanes
            with self.when(several != 0):
                words.scatter(read, several, many.broadcast(WARP))
        with self.when(access[ACCESS.writes] != 0):
            words.scatter(written, lanes, me)
            twice = words.gather(written) != me    # two lanes write the same word
            stop(self, base, conflict | foreign(reader, me, epoch) | twice, lanes)


class InARow:
    """The stamps of 32 words that lie one behind the other."""

    def gather(self, where: Value) -> Value:
        return where.load("u32", WARP)

    def scatter(self, where: Value, lanes: Value, stamps: Value) -> None:
        where.store(stamps)    # in a row, all lanes are active


class Scattered:
    """The stamps of words that lie anywhere."""

    def __init__(self, f: Function, moves: Value):
        self.f, self.moves = f, moves

    def gather(self, where: Value) -> Value:
        return self.f.call("gather_32", where, self.moves, result="u32", lanes=WARP)

    def scatter(self, where: Value, lanes: Value, stamps: Value) -> None:
        self.f.call("scatter_32", where, self.moves, lanes, stamps)


def stop(f: Function, base: Value, conflict: Value, lanes: Value) -> None:
    """Leave the launch to the NumPy back end if some active lane has a conflict."""
    with f.when((conflict.set() & lanes) != 0):
        base[CONTEXT.stop] = 1


def foreign(stamp: Value, me: Value, epoch: Value) -> Value:
    """Whether a stamp is somebody else's of this epoch."""
    return (stamp >= epoch) & (stamp != me)


def end_epoch() -> Function:
    """end_epoch(base): a barrier has opened, or a block has ended."""
    f = Function("end_epoch", ("base", "ptr"))
    base, = f.parameters
    with f.when((base[CONTEXT.written] | base[CONTEXT.checks]) != 0):
        f.call("look_at_log", base)
    base[CONTEXT.log_end], base[CONTEXT.written] = base[CONTEXT.log], 0
    base[CONTEXT.epoch] = base[CONTEXT.epoch] + EPOCH
    with f.when(base[CONTEXT.epoch] >= LAST_EPOCH):
        base[CONTEXT.stop] = 1
    f.ret()
    return f


def begin_block() -> Function:
    """begin_block(base): the epochs of a new block; old stamps are cleared before the epochs are used up."""
    f = Function("begin_block", ("base", "ptr"))
    base, = f.parameters
    with f.when(base[CONTEXT.epoch] >= LAST_EPOCH // 2):
        f.clear(base[CONTEXT.stamps], base[CONTEXT.stamp_bytes])
        base[CONTEXT.epoch] = EPOCH
    with f.when(base[CONTEXT.checks] != 0):
        base[CONTEXT.oldest] = base[CONTEXT.epoch]
    f.ret()
    return f
