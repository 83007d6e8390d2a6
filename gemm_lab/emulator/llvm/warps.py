"""What passes between the lanes of a warp: shuffles and votes. The rules are those of `emulator.warp`.

In check mode a mask that does not fit the lanes that come is left to the NumPy back end.
"""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.integers import where
from gemm_lab.emulator.llvm.operations import Operation
from gemm_lab.emulator.llvm.structures import CONTEXT
from gemm_lab.emulator.llvm.values import Value


def lane_numbers(f: Operation) -> Value:
    return f.vector("u32", range(WARP))


def has(lanes: Value, lane: Value) -> Value:
    """Whether a set of lanes has this one."""
    return (lanes.broadcast(WARP) >> lane & 1) != 0


def shuffle(name: str, mode: str, check: bool) -> Operation:
    """shfl.sync. Operands: result, whether the source lies inside the segment, values, lane, clamp, mask."""
    f = Operation(name)
    own, step, clamp = lane_numbers(f), f.read(3, "u32") & 31, f.read(4, "u32")
    segment, mask = (clamp >> 8) & 31, f.read(5, "u32")
    low = own & segment
    high = low | (clamp & 31 & ~segment)
    # A lane below 0 is a large number here, and lies outside.
    source = {"up": own - step, "down": own + step, "bfly": own ^ step, "idx": low | (step & ~segment)}[mode]
    inside = (source.seen_as("s32") >= high.seen_as("s32")) if mode == "up" else source <= high
    source = where(inside, source, own)
    present = has(f.mask, source)
    if check:
        f.require(has(mask, own))
        f.require(present)
    (f.base + CONTEXT.scratch.at).store(f.read(2, "s32"))
    taken = f.gather("s32", f.base + (source * 4 + CONTEXT.scratch.at).to("u64"))
    f.put(0, where(present, taken, f.read(2, "s32")))
    f.put(1, inside)
    f.next()
    return f


def vote(name: str, mode: str, check: bool) -> Operation:
    """vote.sync. Operands: result, predicate, mask."""
    f = Operation(name)
    mask = f.read(2, "u32")
    if check:
        f.require(has(mask, lane_numbers(f)))
    yes, everyone = mask & (f.place(1).load("u32") & f.mask), mask & f.mask
    f.put(0, {"ballot": lambda: yes.seen_as("s32"), "any": lambda: yes != 0, "all": lambda: yes == everyone,
              "uni": lambda: (yes == 0) | (yes == everyone)}[mode]())
    f.next()
    return f


def active(name: str) -> Operation:
    """activemask. Operands: result."""
    f = Operation(name)
    f.put(0, f.mask.seen_as("s32").broadcast(WARP))
    f.next()
    return f


def meet(name: str) -> Operation:
    """__syncwarp(), in check mode: the lanes run together already. Operands: mask."""
    f = Operation(name)
    f.require(has(f.read(0, "u32"), lane_numbers(f)))
    f.next()
    return f
