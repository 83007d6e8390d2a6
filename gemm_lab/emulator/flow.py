"""Cut a kernel's instructions into basic blocks: stretches that a thread runs from the first to the last instruction.

A block ends where threads may part (a branch), where they must meet (a barrier), or where somebody may jump in (a
label). They are put in the order in which threads come by, so that "the earliest block first" lets those that took the
longer way catch up before their ways join.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from gemm_lab.emulator.ptx import Instruction, Kernel, Not, Register, Target, Unsupported, registers

EXIT = 1 << 30    # the program counter of a thread that has finished: behind every block


@dataclass(frozen=True)
class Jump:
    target: int
    line: int | None = None

    @property
    def targets(self) -> tuple[int, ...]:
        return (self.target,)


@dataclass(frozen=True)
class Branch:
    """Threads whose predicate holds go to `taken`, the others to `otherwise`."""
    predicate: Register | Not
    taken: int
    otherwise: int
    line: int | None = None

    @property
    def targets(self) -> tuple[int, ...]:
        return self.taken, self.otherwise


@dataclass(frozen=True)
class Barrier:
    """Wait for the block's threads, then go to `target`. `vote` is a predicate to be combined over them (bar.red)."""
    number: object               # operand
    count: object                # operand: how many threads meet, or None for all
    vote: Register | Not | None
    target: int
    line: int | None = None

    @property
    def targets(self) -> tuple[int, ...]:
        return (self.target,)


@dataclass
class Block:
    instructions: list[Instruction] = field(default_factory=list)
    end: Jump | Branch | Barrier = Jump(EXIT)
    live: frozenset[str] = frozenset()    # registers that may be read before they are written, from here on
    added: bool = False                   # stands for no instruction

    @property
    def line(self) -> int | None:
        return self.end.line


@dataclass(frozen=True)
class Loop:
    """`tail` jumps back to `head`; `body` is all blocks that can lie on the way from `head` to `tail`."""
    head: int
    tail: int
    line: int | None
    body: frozenset[int]


# ---- blocks ---------------------------------------------------------------------------------------------------------

def basic_blocks(kernel: Kernel) -> list[Block]:
    """The kernel's blocks, with live registers worked out."""
    labels = _targets(kernel)
    starts = {0, *labels}
    for i, instruction in enumerate(kernel.instructions):
        if _ends_block(instruction):
            starts.update((i, i + 1) if _is_barrier(instruction) and instruction.guard else (i + 1,))
    size = len(kernel.instructions)
    order = sorted(start for start in starts if start < size or start in labels)
    block_at = {start: n for n, start in enumerate(order)}
    blocks: list[Block] = []
    prologue: list[Instruction] = []
    for n, start in enumerate(order):
        stop, following = (order[n + 1], n + 1) if n + 1 < len(order) else (size, EXIT)
        body = kernel.instructions[start:stop]
        last = body[-1] if body and _ends_block(body[-1]) else None
        blocks.append(Block(prologue + (body[:-1] if last else body), _end(last, following, kernel, block_at)))
        prologue = [_vote_result(last)] if last and _is_barrier(last) and "red" in last.opcode else []
    blocks = with_meetings(in_order(blocks))
    find_live(blocks)
    return blocks


def _targets(kernel: Kernel) -> set[int]:
    """Where branches lead. Other labels only mark places for debuggers."""
    return {kernel.labels[_find_label(kernel, i)] for i in kernel.instructions if i.opcode[0] == "bra"}


def in_order(blocks: list[Block]) -> list[Block]:
    """The blocks with every jump leading onwards, but for those back to the head of a loop; else as in the PTX.

    The compiler may put the end of a loop above its head. Threads that come there from the middle of the loop would
    then run on before the others, which are still on their way.
    """
    onwards = _without_ways_back(blocks)
    waiting = Counter(target for targets in onwards for target in targets)
    ready, order = [n for n in range(len(blocks)) if not waiting[n]], []
    while ready:
        order.append(heappop(ready))
        waiting.subtract(onwards[order[-1]])
        for target in sorted({t for t in onwards[order[-1]] if not waiting[t]}):
            heappush(ready, target)
    place = {old: new for new, old in enumerate(order)} | {EXIT: EXIT}
    return [moved(blocks[n], place) for n in order]


def with_meetings(blocks: list[Block]) -> list[Block]:
    """Where several ways lead back to the head of a loop, they first join in an empty block behind all of them.

    So threads that are early do not go round once more while others of their warp are still on their way; the GPU's
    compiler makes them wait, too.
    """
    ways_back: dict[int, list[int]] = {}
    for n, block in enumerate(blocks):
        for head in {target for target in block.end.targets if target <= n}:
            ways_back.setdefault(head, []).append(n)
    added = sorted((tails[-1], -head) for head, tails in ways_back.items() if len(tails) > 1)    # inner loops first
    place = {n: n + sum(tail < n for tail, _ in added) for n in range(len(blocks))} | {EXIT: EXIT}
    meeting = {-head: tail + 1 + k for k, (tail, head) in enumerate(added)}
    joined = []
    for n, block in enumerate(blocks):
        back = {head: meeting[head] for head in block.end.targets if head <= n and head in meeting}
        joined.append(moved(block, place | back))
        joined += [Block(end=Jump(place[-head], block.line), added=True) for tail, head in added if tail == n]
    return joined


def _without_ways_back(blocks: list[Block]) -> list[tuple[int, ...]]:
    """The targets of each block, without EXIT and without jumps to a block that lies on the way to it."""
    onwards: list[tuple[int, ...]] = [()] * len(blocks)
    done: set[int] = set()
    for start in range(len(blocks)):
        path = [] if start in done else [start]
        while path:
            n = path[-1]
            onwards[n] = tuple(t for t in blocks[n].end.targets if t != EXIT and t not in path)
            left = [t for t in onwards[n] if t not in done]
            path += left[:1]
            if not left:
                done.add(path.pop())
    return onwards


def moved(block: Block, place: Mapping[int, int]) -> Block:
    """The block once the blocks have gone to other places: it leads where its targets are now."""
    end = block.end
    if isinstance(end, Branch):
        return replace(block, end=replace(end, taken=place[end.taken], otherwise=place[end.otherwise]))
    return replace(block, end=replace(end, target=place[end.target]))


def _is_barrier(instruction: Instruction) -> bool:
    return instruction.opcode[0] in ("bar", "barrier") and not {"warp", "arrive"} & set(instruction.opcode)


def is_arrival(instruction: Instruction) -> bool:
    """bar.arrive: come to a barrier and do not wait, so that the block of instructions goes on."""
    return instruction.opcode[0] in ("bar", "barrier") and "arrive" in instruction.opcode


def _ends_block(instruction: Instruction) -> bool:
    return instruction.opcode[0] in ("bra", "ret", "exit") or _is_barrier(instruction)


def _end(last: Instruction | None, following: int, kernel: Kernel, block_at: dict[int, int]) -> Jump | Branch | Barrier:
    if last is None:
        return Jump(following)
    if _is_barrier(last):
        return _barrier(last, following)
    target = EXIT if last.opcode[0] in ("ret", "exit") else block_at[kernel.labels[_find_label(kernel, last)]]
    return Branch(last.guard, target, following, last.line) if last.guard else Jump(target, last.line)


def _find_label(kernel: Kernel, branch: Instruction) -> tuple[int, str]:
    target: Target = branch.operands[0]
    for scope in target.scopes:
        if (scope, target.label) in kernel.labels:
            return scope, target.label
    raise Unsupported(f"`{branch.text}`: no such label", branch.line)


def _barrier(instruction: Instruction, target: int) -> Barrier:
    opcode, operands, line = instruction.opcode, instruction.operands, instruction.line
    if instruction.guard:
        raise Unsupported(f"`{instruction.text}`", line)
    if "red" in opcode:
        _, number, *count, vote = operands
        return Barrier(number, count[0] if count else None, vote, target, line)
    return Barrier(operands[0], operands[1] if len(operands) > 1 else None, None, target, line)


def _vote_result(barrier: Instruction) -> Instruction:
    """What bar.red leaves in its register, read once everybody has arrived."""
    operation = next(o for o in ("popc", "and", "or") if o in barrier.opcode)
    return Instruction(("vote_result", operation), barrier.operands[:1], barrier.line, barrier.text)


def endings(blocks: list[Block]) -> frozenset[int]:
    """EXIT, and the blocks that do nothing but lead there."""
    found, grown = {EXIT}, True
    while grown:
        new = {n for n, block in enumerate(blocks) if not block.instructions and isinstance(block.end, Jump)
               and block.end.target in found}
        grown = not new <= found
        found |= new
    return frozenset(found)


def loops(blocks: list[Block]) -> list[Loop]:
    """One loop for each jump backwards."""
    before: dict[int, list[int]] = {n: [] for n in range(len(blocks))}
    for n, block in enumerate(blocks):
        for target in block.end.targets:
            if target != EXIT:
                before[target].append(n)
    return [Loop(target, n, block.end.line, _body(target, n, before)) for n, block in enumerate(blocks)
            for target in block.end.targets if target <= n]


def _body(head: int, tail: int, before: dict[int, list[int]]) -> frozenset[int]:
    """The blocks from which `tail` can be reached without passing through `head` (the natural loop)."""
    found, left = {head, tail}, [tail]
    while left:
        if (block := left.pop()) != head:
            left += [b for b in before[block] if b not in found]
            found.update(before[block])
    return frozenset(found)


# ---- registers ------------------------------------------------------------------------------------------------------

def read_at_end(end: Jump | Branch | Barrier) -> set[str]:
    """Names of the registers that the end of a block reads."""
    if isinstance(end, Branch):
        return {r.name for r in registers(end.predicate)}
    return {r.name for r in registers((end.number, end.count, end.vote))} if isinstance(end, Barrier) else set()


def live_after(block: Block, blocks: list[Block]) -> set[str]:
    """Names of the registers that may be read after the last instruction of a block."""
    return set().union(*(blocks[t].live for t in block.end.targets if t != EXIT)) | read_at_end(block.end)


def feeding(instructions: list[Instruction], names: set[str]) -> tuple[list[Instruction], set[str]]:
    """The instructions on which these registers depend, directly or through others, and all registers involved."""
    found, grown = [], True
    while grown:
        found = [i for i in instructions if i.writes & names]
        more = set().union(*(i.reads for i in found)) - names
        names, grown = names | more, bool(more)
    return found, names


def find_live(blocks: list[Block]) -> None:
    """Set `live` of each block: the usual backward data-flow, repeated until nothing changes."""
    needs, sets = [], []
    for block in blocks:
        need, have = set(), set()
        for instruction in block.instructions:
            need |= instruction.reads - have
            if instruction.guard is None:    # a predicated write may leave the old value
                have |= instruction.writes
        needs.append(need | (read_at_end(block.end) - have))
        sets.append(have)
    changed = True
    while changed:
        changed = False
        for n in reversed(range(len(blocks))):
            after = frozenset().union(*(blocks[t].live for t in blocks[n].end.targets if t != EXIT))
            live = frozenset(needs[n] | (after - sets[n]))
            changed |= live != blocks[n].live
            blocks[n].live = live
