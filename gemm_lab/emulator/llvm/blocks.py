"""The blocks of a launch: every worker takes the next block that nobody has begun, until none is left.

The warps of a block run in turn, each until all its lanes wait or have finished. Then the barrier opens: there is only
one, so everybody who lives waits at it, and an epoch ends.
"""

from __future__ import annotations

from gemm_lab.emulator.llvm.functions import Function
from gemm_lab.emulator.llvm.structures import CONTEXT, EXIT, WAITING, WINDOW
from gemm_lab.emulator.llvm.values import Value


def run() -> Function:
    """run(base): what a worker does."""
    f = Function("run", ("base", "ptr"))
    base, = f.parameters
    with f.repeat():
        block = f.op("u64", 1, f"atomicrmw add ptr {base[CONTEXT.next_block].name}, i64 1 seq_cst")
        with f.when(block >= base[CONTEXT.blocks]):
            f.ret()
        begin(f, base, block.to("u32"))
        f.call("run_epochs", base)
        with f.when(base[CONTEXT.stop] != 0):
            f.ret()
    return f


def begin(f: Function, base: Value, block: Value) -> None:
    """Make everything ready for a block."""
    base[CONTEXT.started] = base[CONTEXT.started] + 1
    x, y = base[CONTEXT.blocks_x], base[CONTEXT.blocks_y]
    base[CONTEXT.block_x] = (block % x).seen_as("s32")
    base[CONTEXT.block_y] = (block / x % y).seen_as("s32")
    base[CONTEXT.block_z] = (block / x / y).seen_as("s32")
    base[CONTEXT.first] = block * base[CONTEXT.in_block]
    f.copy(base[CONTEXT.shared], base[CONTEXT.fresh_shared], base[CONTEXT.shared_bytes])
    f.call("begin_block", base)


def run_epochs() -> Function:
    """run_epochs(base): run the warps of the block from barrier to barrier."""
    f = Function("run_epochs", ("base", "ptr"))
    base, = f.parameters
    with f.repeat() as epoch:
        base[CONTEXT.waiting] = 0
        windows = f.select(epoch == 0, base[CONTEXT.fresh], base[CONTEXT.states])
        with f.loop(base[CONTEXT.warps]) as warp:
            base[CONTEXT.warp] = warp.to("u32")
            at = warp * base[CONTEXT.window]
            f.copy(base + WINDOW.pcs.at, windows + at, base[CONTEXT.window])
            f.call("choose", base, base, f.constant("u32", 0))
            open_barrier(f, base)
            # What does not change after the first barrier is there already.
            size = f.select(epoch == 0, base[CONTEXT.window], base[CONTEXT.changing])
            f.copy(base[CONTEXT.states] + at, base + WINDOW.pcs.at, size)
        with f.when(base[CONTEXT.stop] != 0):
            f.ret()
        f.call("end_epoch", base)
        # In check mode somebody who has left may explain what is wrong later: the NumPy back end keeps account of it.
        absent = (base[CONTEXT.coming] != base[CONTEXT.threads]) & (base[CONTEXT.checks] != 0)
        with f.when((base[CONTEXT.waiting] != 0) & absent):
            base[CONTEXT.stop] = 1
        base[CONTEXT.came], base[CONTEXT.said_yes] = base[CONTEXT.coming], base[CONTEXT.saying_yes]
        base[CONTEXT.coming], base[CONTEXT.saying_yes] = 0, 0
        with f.when(base[CONTEXT.waiting] == 0):
            f.ret()
    return f


def open_barrier(f: Function, base: Value) -> None:
    """The lanes that wait may go on when the warp has its next turn. All must wait at the same place."""
    counters = base[WINDOW.pcs]
    waits = (counters >= WAITING) & (counters != EXIT)
    lowest = f.reduce("umin", counters)
    highest = f.reduce("umax", f.select(waits, counters, counters.like(0)))
    with f.when((highest != 0) & (highest != lowest)):
        base[CONTEXT.stop] = 1
    base[CONTEXT.waiting] = base[CONTEXT.waiting] | highest
    base[WINDOW.pcs] = f.select(waits, counters - WAITING, counters)
