"""The steps of instructions that pass values between the threads of a warp, or of a block at a barrier."""

from __future__ import annotations

from gemm_lab.emulator import reports, warp
from gemm_lab.emulator.flow import is_arrival
from gemm_lab.emulator.memory import SHARED_FILL
from gemm_lab.emulator.ptx import Instruction, Pair, Unsupported


def pick(i: Instruction, choices) -> str:
    """The one of `choices` that the opcode names."""
    found = next((choice for choice in choices if choice in i.opcode), None)
    if found is None or "sync" not in i.opcode:
        raise Unsupported(f"`{i.text}`")
    return found


def two(target) -> tuple:
    return (target.first, target.second) if isinstance(target, Pair) else (target, None)


def shuffle(decoder, i: Instruction):
    mode = pick(i, ("up", "down", "bfly", "idx"))
    first, second = two(i.operands[0])
    write, write_inside = decoder.writer(first, "b32"), decoder.writer(second, "pred")
    values, lane, clamp, mask = (decoder.source(source, "b32") for source in i.operands[1:])

    def step(b):
        b.warp_sync(mask(b), i.line)
        if b.execution.check:
            reports.absent_lanes(b, mask(b), warp.source_lane(b.group, mode, lane(b), clamp(b))[0], i.line)
        missing = SHARED_FILL if b.execution.check else None    # who uses it gets a wrong result
        taken, inside = warp.shuffle(b.group, mode, values(b), lane(b), clamp(b), missing)
        write(b, taken)
        write_inside(b, inside)
    return step


def across(i, write, mask, function):
    """A step that writes function(batch) after the threads in the mask have met."""
    def step(b):
        b.warp_sync(mask(b), i.line)
        write(b, function(b))
    return step


def vote(decoder, i: Instruction):
    mode = pick(i, ("all", "any", "uni", "ballot"))
    write = decoder.writer(i.operands[0], "b32" if mode == "ballot" else "pred")
    predicate, mask = decoder.source(i.operands[1], "pred"), decoder.source(i.operands[2], "b32")
    return across(i, write, mask, lambda b: warp.vote(b.group, mode, predicate(b), mask(b)))


def match(decoder, i: Instruction):
    mode = pick(i, ("any", "all"))
    first, second = two(i.operands[0])
    write, write_same = decoder.writer(first, "b32"), decoder.writer(second, "pred")
    values, mask = decoder.source(i.operands[1], i.opcode[-1]), decoder.source(i.operands[2], "b32")
    if mode == "any":
        return across(i, write, mask, lambda b: warp.match_any(b.group, values(b), mask(b)))

    def step(b):
        b.warp_sync(mask(b), i.line)
        lanes, same = warp.match_all(b.group, values(b), mask(b))
        write(b, lanes)
        write_same(b, same)
    return step


def reduce(decoder, i: Instruction):
    kind, operation = i.opcode[-1], pick(i, warp.REDUCE)
    if kind[0] == "f":
        raise Unsupported(f"`{i.text}`")
    values, mask = decoder.source(i.operands[1], kind), decoder.source(i.operands[2], "b32")
    write = decoder.writer(i.operands[0], kind)
    return across(i, write, mask, lambda b: warp.reduce(b.group, operation, values(b), mask(b)))


def activemask(decoder, i: Instruction):
    write = decoder.writer(i.operands[0], "b32")
    return lambda b: write(b, warp.active(b.group))


def barrier(decoder, i: Instruction):
    """bar.warp.sync: the threads of a warp already run together, so only the order is noted. And bar.arrive."""
    if is_arrival(i):
        number, expected = (decoder.source(source, "s32") for source in i.operands)
        return lambda b: b.barriers.arrive(number(b), expected(b), i.line)
    mask = decoder.source(i.operands[0], "b32")
    return lambda b: b.warp_sync(mask(b), i.line)


def vote_result(decoder, i: Instruction):
    """What a barrier with a vote (bar.red) found; the instruction is put in by `flow`."""
    operation = i.opcode[1]
    write = decoder.writer(i.operands[0], "s32" if operation == "popc" else "pred")

    def step(b):
        # Copies: the next barrier changes these arrays, and a register's array never changes.
        yes, everyone = b.group.of(b.barriers.yes).copy(), b.group.of(b.barriers.everyone)
        write(b, {"popc": yes, "or": yes > 0, "and": yes == everyone}[operation])
    return step


STEPS = {"shfl": shuffle, "vote": vote, "match": match, "redux": reduce, "activemask": activemask,
         "bar": barrier, "barrier": barrier, "vote_result": vote_result}
