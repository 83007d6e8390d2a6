"""Where everything that a kernel needs lies in the arena.

A register that outlives its basic block has a place of its own; the others share places, within each block, as soon as
they are not needed any more. So what a loop works on fits into the processor's cache. The window comes first: program
counters, local memory, the registers that outlive a barrier, the special registers that differ from warp to warp. Those
that nobody writes after the first barrier come last: a warp that gives way need not save them once more.
"""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator import flow
from gemm_lab.emulator import memory as mem
from gemm_lab.emulator.flow import EXIT, Barrier, Block
from gemm_lab.emulator.llvm.operations import kept
from gemm_lab.emulator.llvm.structures import LINE, WINDOW
from gemm_lab.emulator.llvm.values import stored
from gemm_lab.emulator.program import Program
from gemm_lab.emulator.ptx import Register, Special
from gemm_lab.emulator.threads import SPECIAL_REGISTERS

OF_THE_WARP = {"tid.x", "tid.y", "tid.z", "warpid"}    # special registers that differ from warp to warp


class Arena:
    """Hands out places: distances from the start."""

    def __init__(self, program: Program, check: bool):
        blocks = [code.block for code in program.codes]
        self.kinds = {r.name: kept(r.type) for block in blocks for r in _registers(block)}
        self.top = WINDOW.size
        self._take_window(program, blocks, check)
        for name in sorted(set().union(*(block.live for block in blocks)) - self.lasting.keys()):
            self.lasting[name] = self.take_register(self.kinds[name])
        self.free: dict[int, list[int]] = {}
        self.here: dict[str, int] = {}      # registers of the current basic block
        self.last_use: dict[str, int] = {}

    def _take_window(self, program: Program, blocks: list[Block], check: bool) -> None:
        self._take_local(program, check)
        starts = {block.end.target for block in blocks if isinstance(block.end, Barrier)} - {EXIT}
        outlive = blocks[0].live.union(*(blocks[n].live for n in starts))
        later = [i for n in _reached(starts, blocks) for i in blocks[n].instructions]
        changing = outlive.intersection(name for i in later for name in i.writes)
        self.lasting = {name: self.take_register(self.kinds[name]) for name in sorted(changing)}
        self.changing_end = self.top
        self.special = {name: self.take(4 * WARP) for name in sorted(_specials(blocks) & OF_THE_WARP)}
        self.lasting |= {name: self.take_register(self.kinds[name]) for name in sorted(outlive - changing)}
        self.window_end = self.top

    def _take_local(self, program: Program, check: bool) -> None:
        variables = [v for v in program.variables.values() if v.space == "local"]
        self.local_variables, size = mem.layout(variables, 0)
        self.local_stride = -(-size // 16) * 16
        self.local = self.take(WARP * self.local_stride)
        # Who wrote a word, and who read it.
        self.local_stamps = self.take(2 * WARP * self.local_stride) if check and size else 0

    def take(self, size: int) -> int:
        """So many bytes."""
        place, self.top = self.top, self.top + -(-size // LINE) * LINE
        return place

    def take_register(self, kind: str) -> int:
        return self.take(stored(kind, WARP))

    # ---- the registers of a basic block

    def begin(self, block: Block) -> None:
        """Forget the registers of the last basic block, and see how long those of this one are needed."""
        for name, place in self.here.items():
            self._give_back(name, place)
        self.here, self.last_use = {}, {}
        for n, i in enumerate(block.instructions):
            self.last_use |= dict.fromkeys(i.reads | i.writes, n)
        self.last_use |= dict.fromkeys(flow.read_at_end(block.end), len(block.instructions))

    def finished(self, n: int) -> None:
        """The n-th instruction has read its sources: what nobody reads any more makes room."""
        for name in [name for name in self.here if self.last_use[name] <= n]:
            self._give_back(name, self.here.pop(name))

    def _give_back(self, name: str, place: int) -> None:
        self.free.setdefault(stored(self.kinds[name], WARP), []).append(place)

    def place(self, register: Register) -> int:
        """Where a register lies."""
        name = register.name
        if name in self.lasting:
            return self.lasting[name]
        if name not in self.here:
            free = self.free.get(stored(self.kinds[name], WARP))
            self.here[name] = free.pop() if free else self.take_register(self.kinds[name])
        return self.here[name]


def _reached(starts: set[int], blocks: list[Block]) -> set[int]:
    """These blocks, and those to which a thread may come from there."""
    found, left = set(), starts
    while left:
        found = found | left
        left = {target for n in left for target in blocks[n].end.targets} - found - {EXIT}
    return found


def _registers(block: Block):
    for i in block.instructions:
        yield from flow.registers((i.operands, i.guard))
    if isinstance(block.end, flow.Branch):
        yield from flow.registers(block.end.predicate)


def _specials(blocks: list[Block]) -> set[str]:
    return {o.name for block in blocks for i in block.instructions for o in i.operands
            if isinstance(o, Special) and o.name in SPECIAL_REGISTERS}
