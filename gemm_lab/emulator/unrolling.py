"""Loops that the assembler unrolls.

ptxas unrolls a loop that counts. What it makes of one was read off its machine code:

    more than 3 rounds left?    four rounds at once, again and again
    more than 1 round left?     two rounds at once
    one left, or none begun?    one round

(If it compares unsigned numbers, a round of its own stands before all these, for a loop that its test would not begin.)

Values stay what they were. Where the lanes of a warp go round equally often, so do requests. Where they do not, there
are more: a lane with three rounds to go takes no part in the four of its neighbours, and they have moved on when it
loads. `unroll` does the same to the PTX, so that requests are counted as on the GPU.

Whether ptxas has unrolled a loop stands in the machine code: a load of such a loop is there 4 + 2 + 1 times, or once
more. `unrolled` looks for loops that explain how many loads each line has. It does not see loops without a load from
global memory, and ptxas has other ways, too, for loops of few rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from gemm_lab.emulator import flow
from gemm_lab.emulator.flow import Block, Branch, Jump, Loop
from gemm_lab.emulator.loops import ACROSS, MEMORY
from gemm_lab.emulator.ptx import Immediate, Instruction, Register, Special, number, registers

CHUNKS = (4, 2)                 # rounds at once, before the single ones
TYPES = ("s32", "u32", "s64", "u64")
UPWARDS, DOWNWARDS = ("lt", "le", "ne"), ("gt", "ge", "ne")    # comparisons while which a loop may count so
MOST_LOOPS = 10                 # that one line may be in for its loads to be explained
_OF_A_LANE = ("tid", "laneid", "lanemask")    # special registers


@dataclass(frozen=True)
class Counted:
    """A loop with no other in it that goes on while `counter` compares so with `bound`, after each round has added
    `step` to the counter."""

    head: int
    tail: int
    after: int                  # the block that follows it
    counter: Register
    step: int
    compare: tuple[str, ...]    # ("setp", "lt", "s32")
    bound: Register | Immediate
    goes_on: Register           # the predicate

    @property
    def body(self) -> range:
        return range(self.head, self.tail + 1)

    @property
    def type(self) -> str:
        """Of what it compares."""
        return self.compare[-1]

    @property
    def copies(self) -> int:
        """How often each of its instructions is in the machine code once it is unrolled."""
        return sum(CHUNKS) + 1 + self.type.startswith("u")


# ---- which loops ----------------------------------------------------------------------------------------------------

def parting(blocks: list[Block]) -> list[Counted]:
    """The loops that count and load, and round which the lanes of a warp may go unequally often."""
    return [loop for loop in counted(blocks) if _parts(blocks, loop)]


def unrolled(blocks: list[Block], global_loads: Mapping[int, int]) -> list[Counted]:
    """Those of `parting` that ptxas has unrolled, if each line has so many loads in the machine code."""
    loops = counted(blocks)
    copies = {loop.head: {1, loop.copies} for loop in loops}    # how many there may be of each
    for line in {line for loop in loops for line in _loads(blocks, loop.body)}:
        around = [loop for loop in loops if line in _loads(blocks, loop.body)][:MOST_LOOPS]
        explained = list(_explanations(blocks, line, around, global_loads.get(line, 0)))
        for n, loop in enumerate(around):
            copies[loop.head] &= {each[n] for each in explained}
    return [loop for loop in loops if copies[loop.head] == {loop.copies} and _parts(blocks, loop)]


def _explanations(blocks: list[Block], line: int | None, loops: list[Counted], loads: int) -> Iterable[tuple[int, ...]]:
    """How many copies of each loop there may be for a line to have so many loads."""
    inside = [_loads(blocks, loop.body)[line] for loop in loops]
    outside = _loads(blocks, range(len(blocks)))[line] - sum(inside)
    return (copies for copies in product(*((1, loop.copies) for loop in loops))
            if outside + sum(n * k for n, k in zip(inside, copies)) == loads)


def _loads(blocks: list[Block], among: Iterable[int]) -> Counter[int | None]:
    """Line -> how many loads from global memory some of the blocks have."""
    instructions = (i for n in among for i in blocks[n].instructions)
    return Counter(i.line for i in instructions if i.opcode[0] == "ld" and "global" in i.opcode)


def counted(blocks: list[Block]) -> list[Counted]:
    """The loops that count."""
    loops = flow.loops(blocks)
    plain = [loop for loop in loops if _is_plain(blocks, loop, loops)]
    return [found for loop in plain if (found := _as_counted(blocks, loop))]


def _is_plain(blocks: list[Block], loop: Loop, loops: list[Loop]) -> bool:
    """Whether a loop contains no other, is entered at its head and left at its tail alone, and has no barrier."""
    if loop.body != {*range(loop.head, loop.tail + 1)} or any(o.body <= loop.body for o in loops if o != loop):
        return False
    onwards = loop.body - {loop.head}
    ways = [block.end.targets for n, block in enumerate(blocks) if n not in loop.body]
    within = [blocks[n].end for n in range(loop.head, loop.tail)]
    return (not any(onwards & {*targets} for targets in ways) and isinstance(blocks[loop.tail].end, Branch)
            and all(isinstance(end, Branch | Jump) and onwards >= {*end.targets} for end in within))


def _as_counted(blocks: list[Block], loop: Loop) -> Counted | None:
    """A plain loop, if its tail adds a constant to a counter and compares that with what stays the same."""
    end, last = blocks[loop.tail].end, blocks[loop.tail].instructions
    written = Counter(name for n in loop.body for i in blocks[n].instructions for name in i.writes)
    tests = [i for i in last if i.opcode[0] == "setp" and i.operands[0] == end.predicate]
    if end.taken != loop.head or len(tests) != 1 or written[end.predicate.name] != 1:
        return None
    goes_on, counter, bound = tests[0].operands
    adds = [i for i in last[:last.index(tests[0])] if i.opcode[0] == "add" and i.operands[:2] == (counter, counter)]
    if len(adds) != 1 or written[counter.name] != 1 or any(written[r.name] for r in registers(bound)):
        return None
    if tests[0].guard or adds[0].guard or not isinstance(adds[0].operands[2], Immediate):
        return None
    _, compare, *kind = tests[0].opcode
    step = number(adds[0].operands[2].text)
    if len(kind) != 1 or kind[0] not in TYPES or compare not in (UPWARDS if step > 0 else DOWNWARDS):
        return None
    return Counted(loop.head, loop.tail, end.otherwise, counter, step, tests[0].opcode, bound, goes_on)


def _parts(blocks: list[Block], loop: Counted) -> bool:
    """Whether it loads, and lanes of one warp may go round unequally often: where the count begins or ends depends on
    the lane, or it begins in several places."""
    if not _loads(blocks, loop.body):
        return False
    everywhere = [i for block in blocks for i in block.instructions]
    feeding, _ = flow.feeding(everywhere, {r.name for r in registers((loop.counter, loop.bound))})
    starts = [i for n, block in enumerate(blocks) if n not in loop.body for i in block.instructions
              if loop.counter.name in i.writes]
    return len(starts) > 1 or any(_of_a_lane(i) for i in feeding)


def _of_a_lane(i: Instruction) -> bool:
    special = any(isinstance(x, Special) and x.name.startswith(_OF_A_LANE) for x in i.operands)
    return special or i.opcode[0] in MEMORY | ACROSS and "param" not in i.opcode


# ---- unrolling ------------------------------------------------------------------------------------------------------

def unroll(blocks: list[Block], loops: list[Counted]) -> list[Block]:
    """The blocks with these loops unrolled as by ptxas."""
    for loop in sorted(loops, key=lambda loop: loop.head, reverse=True):    # the last first: the others stay in place
        blocks = _with_chunks(blocks, loop)
    flow.find_live(blocks)
    return blocks


def _with_chunks(blocks: list[Block], loop: Counted) -> list[Block]:
    """In place of the loop: [begin] [test] [4 rounds] [begun] [test] [2 rounds] [begun] [test] [the loop]."""
    rounds, tests = len(loop.body), [loop.head + 1]
    for chunk in CHUNKS:
        tests.append(tests[-1] + 1 + chunk * rounds + 1)
    single = tests[-1] + 1
    place = {n: n + (single - loop.head) * (n > loop.head) for n in range(len(blocks))} | {flow.EXIT: flow.EXIT}
    none_begun, enough = (Register(f"{loop.goes_on.name}.{name}", "pred") for name in ("none_begun", "enough"))
    line = blocks[loop.tail].line
    new = [_added([_set(none_begun, "eq")], Jump(tests[0], line))]
    for chunk, test, following in zip(CHUNKS, tests, tests[1:]):
        new.append(_test(loop, chunk, Branch(enough, test + 1, following, line)))
        for start in range(test + 1, following - 1, rounds):
            new += _round(blocks, loop, start)
        new.append(_added([_set(none_begun, "ne")], Jump(test if chunk == CHUNKS[0] else following, line)))
    new.append(_test(loop, 1, Branch(enough, single, place[loop.after], line), none_begun))
    new += [flow.moved(blocks[n], place | {loop.head: single}) for n in loop.body]
    return ([flow.moved(block, place) for block in blocks[:loop.head]] + new
            + [flow.moved(block, place) for block in blocks[loop.tail + 1:]])


def _round(blocks: list[Block], loop: Counted, start: int) -> list[Block]:
    """One round, from place `start` on, that goes on with what follows it."""
    place = {n: start + n - loop.head for n in loop.body} | {loop.tail + 1: start + len(loop.body)}
    once = [*blocks[loop.head:loop.tail], replace(blocks[loop.tail], end=Jump(loop.tail + 1, blocks[loop.tail].line))]
    return [flow.moved(block, place) for block in once]


def _test(loop: Counted, rounds: int, end: Branch, none_begun: Register | None = None) -> Block:
    """Take the branch if so many rounds are left, or if none has begun: the loop does the first unasked."""
    enough = end.predicate
    test = [Instruction(loop.compare, (enough, loop.counter, loop.bound), None, "setp")]
    if rounds > 1:    # by how much is left, as ptxas does: a sum might go beyond what its type can hold
        far, near = (loop.bound, loop.counter) if loop.step > 0 else (loop.counter, loop.bound)
        left, signed = Register(f"{loop.goes_on.name}.left", f"b{loop.type[1:]}"), f"s{loop.type[1:]}"
        compare = "ge" if loop.compare[1] in ("le", "ge") else "gt"
        least = Immediate(str((rounds - 1) * abs(loop.step)))
        test += [Instruction(("sub", signed), (left, far, near), None, "sub"),
                 Instruction(("setp", compare, "and", signed), (enough, left, least, enough), None, "setp")]
    if none_begun:
        test.append(Instruction(("or", "pred"), (enough, enough, none_begun), None, "or"))
    return _added(test, end)


def _set(predicate: Register, compare: str) -> Instruction:
    """Set it to whether 0 is equal ("eq"), or not equal ("ne"), to 0."""
    return Instruction(("setp", compare, "s32"), (predicate, Immediate("0"), Immediate("0")), None, "setp")


def _added(instructions: list[Instruction], end: Jump | Branch) -> Block:
    return Block(instructions, end, added=True)
