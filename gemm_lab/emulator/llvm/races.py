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

from gemm_lab.counts import WARP
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
    f = Function("look", ("address", "s64"), ("entry", "ptr"), ("access", "ptr"), ("me", "u32", WARP),
                 ("epoch", "u32"), ("oldest", "u32"), ("many", "u32"), ("base", "ptr"))
    address, entry, access, me, epoch, oldest, many, base = f.parameters
    stamps = (access[ACCESS.stamps] + (address & -4)).seen_as("ptr")
    lanes, moves = entry[ENTRY.lanes], (entry[ENTRY.moves] + (address & 3).to("s32")) & -4    # whole words
    with f.loop(access[ACCESS.words]) as k:
        written = stamps + k.to("u64") * 4
        read = written + access[ACCESS.far]
        writer, reader = gather(f, written, moves), gather(f, read, moves)
        conflict = foreign(writer, me, epoch)
        with f.when(access[ACCESS.writes] == 0):
            stop(f, base, conflict | (writer < oldest), lanes)
            stamp = f.select(foreign(reader, me, epoch), many, me)
            scatter(f, read, moves, lanes, stamp)
            several = (gather(f, read, moves) != stamp).set() & lanes
            with f.when(several != 0):
                scatter(f, read, moves, several, many.broadcast(WARP))
        with f.when(access[ACCESS.writes] != 0):
            scatter(f, written, moves, lanes, me)
            twice = gather(f, written, moves) != me    # two lanes write the same word
            stop(f, base, conflict | foreign(reader, me, epoch) | twice, lanes)
    f.ret()
    return f


def stop(f: Function, base: Value, conflict: Value, lanes: Value) -> None:
    """Leave the launch to the NumPy back end if some active lane has a conflict."""
    with f.when((conflict.set() & lanes) != 0):
        base[CONTEXT.stop] = 1


def foreign(stamp: Value, me: Value, epoch: Value) -> Value:
    """Whether a stamp is somebody else's of this epoch."""
    return (stamp >= epoch) & (stamp != me)


def gather(f: Function, where: Value, moves: Value) -> Value:
    return f.call("gather_32", where, moves, result="u32", lanes=WARP)


def scatter(f: Function, where: Value, moves: Value, lanes: Value, values: Value) -> None:
    f.call("scatter_32", where, moves, lanes, values)


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
