"""Endless loops, found by proof where possible.

What decides whether a loop ends is its *control state*: the registers on which its branches depend, directly or through
other registers. If a thread comes back to the head of a loop with the same control state, it will come back for ever:
the same state leads to the same decisions. (If the decisions depend on memory, that memory must not have changed
either.)

A loop that runs away, such as `for (unsigned t = 0; t != n; t += 2)` with n odd, never repeats its state, so there is a
bound as well. It applies after `PATIENCE` seconds in one loop, and only if the loop has gone round more often than the
largest number that the kernel was given: an integer argument, a constant that the loop compares with, a size of the
launch, the number of elements of an array (which counts only for rounds that touch global memory: the others go through
no array). And it does not apply while a loop comes nearer to its end, that is, while the two sides of one of its
comparisons approach each other: a long loop may take its time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from gemm_lab.emulator import flow
from gemm_lab.emulator.flow import Block, Loop
from gemm_lab.emulator.integers import signed
from gemm_lab.emulator.ptx import SIZES, Immediate, Instruction, Register, number
from gemm_lab.emulator.reports import Stop, finding

PATIENCE = 5.0           # seconds
FIRST_LOOK = 16          # rounds before a loop is looked at
ACROSS = {"shfl", "vote", "match", "redux", "activemask", "vote_result"}
MEMORY = {"ld", "ldu", "atom"}
ALL = (1 << 64) - 1


@dataclass(frozen=True)
class Control:
    """What the decisions of a loop depend on."""
    loop: Loop
    registers: tuple[str, ...]     # those that carry state from one round to the next
    bits: tuple[int, ...]          # and which of their bits matter: of a counter in a byte, eight
    local: bool                    # values in local memory
    memory: bool                   # values in memory that other threads may change
    across: bool                   # what other threads pass on in a warp or at a barrier
    largest: int                   # the largest constant in a comparison
    comparisons: tuple[tuple, ...]    # pairs of operands that its branches compare, at least one of them a register
    outer: tuple[tuple[int, int], ...]    # the loops around it, as (tail, head)


def controls(blocks: list[Block]) -> dict[tuple[int, int], Control]:
    """(tail, head) -> Control, for every loop."""
    loops = flow.loops(blocks)
    return {(loop.tail, loop.head): control(blocks, loop, loops) for loop in loops}


def control(blocks: list[Block], loop: Loop, loops: list[Loop]) -> Control:
    """Follow the branches of a loop back to everything they depend on."""
    instructions = [i for n in loop.body for i in blocks[n].instructions]
    branches = set().union(*(flow.read_at_end(blocks[n].end) for n in loop.body))
    deciding, needed = flow.feeding(instructions, branches)
    spaces = {_space(i) for i in deciding if i.opcode[0] in MEMORY}
    constants = [abs(number(operand.text)) for i in instructions if i.opcode[0] == "setp"
                 for operand in i.operands if isinstance(operand, Immediate) and operand.text.lstrip("-").isdigit()]
    matter, carried = bits_that_matter(deciding, branches), tuple(sorted(needed & blocks[loop.head].live))
    return Control(loop, carried, tuple(matter[name] for name in carried), "local" in spaces, "memory" in spaces,
                   any(i.opcode[0] in ACROSS for i in deciding), max(constants, default=0),
                   tuple(i.operands[1:3] for i in deciding if i.opcode[0] == "setp"
                         and any(isinstance(operand, Register) for operand in i.operands[1:3])),
                   tuple((o.tail, o.head) for o in loops if o != loop and {loop.head, loop.tail} <= o.body))


def bits_that_matter(instructions: list[Instruction], branches: set[str]) -> dict[str, int]:
    """For each register, the bits of it on which branches can depend, as a mask."""
    found, grown = defaultdict(int, dict.fromkeys(branches, ALL)), True
    while grown:
        before = sum(found.values())
        for i in instructions:
            for target in i.writes:
                for name in i.reads:
                    found[name] |= _bits_read(i, found[target])
        grown = sum(found.values()) != before
    return found


def _bits_read(i: Instruction, wanted: int) -> int:
    """The bits of its sources that an instruction needs for these bits of its result."""
    constants = [number(operand.text) for operand in i.operands[1:] if isinstance(operand, Immediate)]
    if i.opcode[0] == "mov":
        return wanted
    if i.opcode[0] == "and" and constants:
        return wanted & constants[0]
    if i.opcode[0] in ("add", "sub", "mul", "mad") and not {"hi", "wide"} & set(i.opcode) and i.opcode[-1][0] != "f":
        return (1 << wanted.bit_length()) - 1    # a carry goes up, never down
    if i.opcode[0] == "cvt" and i.opcode[-1][0] in "us" and i.opcode[-2][0] in "us" and len(i.opcode) == 3:
        size = 8 * SIZES[i.opcode[-1]]
        sign = 1 << size - 1 if i.opcode[-1][0] == "s" and wanted >> size else 0
        return wanted & (1 << size) - 1 | sign
    return ALL


def _space(i: Instruction) -> str:
    return "local" if "local" in i.opcode else "fixed" if {"param", "const"} & set(i.opcode) else "memory"


# ---- while the kernel runs ------------------------------------------------------------------------------------------

@dataclass
class Visit:
    """One group's stay in one loop."""
    age: int                     # rounds of the loops around it, before
    started: float = field(default_factory=time.monotonic)
    rounds: int = 0
    snapshot: list | None = None
    stores: int = 0              # of the batch, when the snapshot was taken
    seen: int = 0                # accesses to global memory, of the batch, up to the last round
    idle: int = 0                # rounds without one
    gaps: tuple | None = None    # the members and what separates the sides of each comparison, at the last look


class Watch:
    """Looks at every jump backwards of a batch."""

    def __init__(self, controls: dict[tuple[int, int], Control], largest: int, elements: int, bounded: bool):
        self.controls, self.largest, self.elements, self.bounded = controls, largest, elements, bounded
        self.rounds = dict.fromkeys(controls, 0)    # of any group

    def round(self, batch, tail: int, head: int) -> bool:
        """A group jumps from `tail` back to `head`. True if it should let others run first."""
        control = self.controls[tail, head]
        self.rounds[tail, head] += 1
        age = sum(self.rounds[outer] for outer in control.outer)
        visit = batch.group.visits.get((tail, head))
        if visit is None or visit.age != age:    # a new round of an outer loop starts the inner one afresh
            visit = batch.group.visits[tail, head] = Visit(age)
        visit.rounds += 1
        visit.idle = visit.idle + 1 if batch.global_accesses == visit.seen else 0
        visit.seen = batch.global_accesses
        return visit.rounds >= FIRST_LOOK and self.look(batch, control, visit)

    def look(self, batch, control: Control, visit: Visit) -> bool:
        """Compare with the snapshot. True if the loop waits for others, which may still do something."""
        state = _state(batch, control)
        news = control.memory and batch.stores != visit.stores
        if visit.snapshot is not None and not news and self.repeats(batch, control, visit.snapshot, state):
            if control.memory and batch.others_can_run():
                return True
            if not control.across or batch.group.n == batch.alive:
                raise endless(control.loop.line, "waits for something that no thread will do any more" if control.memory
                              else "comes back to the same state in every round, so it never ends")
        if news or visit.rounds & (visit.rounds - 1) == 0:    # at powers of two: Brent's way to find a cycle
            visit.snapshot, visit.stores = state, batch.stores
        if self.bounded and visit.rounds % FIRST_LOOK == 0 and time.monotonic() - visit.started > PATIENCE:
            before, visit.gaps = visit.gaps, (batch.group.members, gaps(batch, control))
            if before is not None and not closing(before, visit.gaps):
                self.check_bound(control, visit)
        return False

    def repeats(self, batch, control: Control, before: list, now: list) -> bool:
        """Whether some thread is in the same state as before; all must be, where they depend on each other."""
        same = np.ones(batch.group.n, bool)
        for a, b in zip(before, now):
            same &= _bits(a) == _bits(b)
        return bool(same.all() if control.across else same.any())

    def check_bound(self, control: Control, visit: Visit) -> None:
        numbers = max(self.largest, control.largest)
        for rounds, bound, what in ((visit.idle, numbers, " without touching an array"),
                                    (visit.rounds, max(numbers, self.elements), "")):
            if rounds > bound:
                raise endless(control.loop.line, f"has gone round {rounds} times{what}, and no number in this launch "
                              f"that it could count to exceeds {bound}; if it is right, pass step_limit=...")


def gaps(batch, control: Control) -> list[np.ndarray]:
    """How far apart the two sides of each comparison are, for each member of the group."""
    return [np.broadcast_to(_gap(*pair, batch.registers), batch.group.n) for pair in control.comparisons]


def _gap(a, b, registers) -> np.ndarray:
    kind = next(registers[side.name].dtype for side in (a, b) if isinstance(side, Register))

    def value(side):
        if isinstance(side, Register):
            return registers[side.name]
        bits = number(side.text) if isinstance(side, Immediate) else 0
        return np.array(bits & (1 << 8 * kind.itemsize) - 1, f"u{kind.itemsize}").view(kind)
    if kind.kind == "f":
        return np.abs(value(a).astype(float) - value(b))
    # The difference of two counters, which may wrap: what separates them on the circle of numbers.
    return np.abs((value(a).astype(np.int64) - value(b).astype(np.int64)).astype(np.int32).astype(float))


def closing(before: tuple, now: tuple) -> bool:
    """Whether every member comes nearer to the end: some comparison's sides approach each other."""
    (members, old), (same_members, new) = before, now
    if len(members) != len(same_members) or not new:
        return len(members) != len(same_members)    # some have left: that is progress, too
    return bool(np.any([b < a for a, b in zip(old, new, strict=True)], axis=0).all())


def _state(batch, control: Control) -> list:
    state = [_masked(batch.registers[name], bits) for name, bits in zip(control.registers, control.bits)]
    if control.local:
        state += list(batch.spaces["local"].rows()[batch.group.members].T.copy())
    return state


def _masked(x, bits: int):
    """The bits of a register that matter."""
    if x.dtype.kind != "i" or bits & (full := (1 << 8 * x.itemsize) - 1) == full:
        return x
    return x & np.array(bits & full, f"u{x.itemsize}").view(x.dtype)


def _bits(x):
    return x if x.dtype == np.bool_ else signed(x)    # a NaN, too, is the same again


def endless(line: int | None, why: str) -> Stop:
    return Stop(finding("endless-loop", line, f"this loop {why}"))
