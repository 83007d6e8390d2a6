"""Multiply-adds that the assembler makes only where their result is wanted.

Where a condition decides whether a product is added (`if (p) sum += a * b;`), the compiler writes a multiply-add for
all threads and then a choice: `fma s, a, b, sum; selp sum, s, sum, p`. ptxas makes one predicated instruction of them,
`@p FFMA sum, a, b, sum`, which the other threads do not execute: their register already holds what they keep. What it
does was read off its machine code. A multiply-add and a choice remain

- if anything else takes the result, the condition included;
- if what the others keep is a constant, or made after the multiply-add, or needed again after the choice: then its
  register is not free;
- in double precision, and where the two do not stand in one basic block.

`select` does the same to the PTX, so that FMAs are counted as on the GPU. The values are the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gemm_lab.emulator import flow
from gemm_lab.emulator.ptx import Instruction, Not, Register


def select(blocks: list[flow.Block]) -> None:
    """Replace multiply-adds and the choices that take them by predicated multiply-adds, as ptxas will."""
    sums = _sums(blocks)
    if not sums:
        return
    for block in blocks:
        block.instructions = _selected(block.instructions, sums, flow.live_after(block, blocks))
    flow.find_live(blocks)


def _sums(blocks: list[flow.Block]) -> frozenset[str]:
    """The registers that a multiply-add alone writes and a choice alone reads."""
    instructions = [i for block in blocks for i in block.instructions]
    writers = Counter(name for i in instructions for name in i.writes)
    readers = Counter(name for i in instructions for name in i.reads)
    readers.update(name for block in blocks for name in flow.read_at_end(block.end))
    made = {name for i in instructions if i.opcode == ("fma", "rn", "f32") and i.guard is None for name in i.writes}
    taken = {name for i in instructions if i.opcode[0] == "selp" and i.guard is None for name in i.reads}
    return frozenset(name for name in made & taken if writers[name] == readers[name] == 1)


def _selected(instructions: list[Instruction], sums: frozenset[str], live: set[str]) -> list[Instruction]:
    """The new instructions of a block. `live`: the registers that may be read after it."""
    new = [[i] for i in instructions]
    made: dict[str, int] = {}    # sum -> where its multiply-add stands
    for n, choice in enumerate(instructions):
        made |= dict.fromkeys(choice.writes & sums, n)
        if choice.opcode[0] == "selp":
            for at in sorted((made[name] for name in choice.reads & made.keys()), reverse=True):
                if _free(instructions, at, n, live):
                    new[at], new[n] = [], _predicated(instructions[at], choice)
                    break
    return [i for some in new for i in some]


def _free(instructions: list[Instruction], at: int, n: int, live: set[str]) -> bool:
    """Whether the multiply-add at `at` can go where the choice at `n` stands, into what the other threads keep."""
    sum_, choice = instructions[at], instructions[n]
    kept = _kept(sum_, choice)
    if not isinstance(kept, Register) or kept == sum_.operands[0]:
        return False
    between = frozenset().union(*(i.writes for i in instructions[at + 1:n]))
    if between & (sum_.reads | {kept.name}):
        return False
    result = choice.operands[0].name
    return result == kept.name or result not in sum_.reads and not _needed(kept.name, instructions[n + 1:], live)


def _kept(sum_: Instruction, choice: Instruction):
    """What threads keep that do not choose the sum: an operand."""
    _, first, second, _ = choice.operands
    return second if first == sum_.operands[0] else first


def _needed(name: str, instructions: list[Instruction], live: set[str]) -> bool:
    """Whether one of the instructions, or what follows them, reads a register before it is written."""
    for i in instructions:
        if name in i.reads or name in i.writes:
            return name in i.reads or i.guard is not None
    return name in live


def _predicated(sum_: Instruction, choice: Instruction) -> list[Instruction]:
    """What stands for both: the threads whose condition holds add to what they keep."""
    result, first, _, condition = choice.operands
    kept, (_, *operands) = _kept(sum_, choice), sum_.operands
    guard = condition if first == sum_.operands[0] else Not(condition)
    copy = [Instruction(("mov", "f32"), (result, kept), choice.line, choice.text)] if result != kept else []
    return [*copy, replace(sum_, operands=(result, *operands), guard=guard)]
