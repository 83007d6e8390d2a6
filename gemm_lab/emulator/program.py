"""A kernel made ready to run: basic blocks of decoded steps, with what the machine wants to know about each block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from gemm_lab.emulator import debug_info, flow, fusing, loops, ptx, reader, selecting, unrolling, watched
from gemm_lab.emulator.debug_info import DebugInfo
from gemm_lab.emulator.decode import Decoder
from gemm_lab.emulator.flow import EXIT, Barrier, Block, Branch, Jump
from gemm_lab.emulator.tracking import Tracking, TrackingDecoder
from gemm_lab.emulator.undefined import CLEAN

STEPS = "%steps"    # a register of the emulator's own: the instructions that a thread has executed


@dataclass
class Code:
    """A basic block: `steps` are pairs (step, registers whose values nobody needs afterwards)."""
    block: Block
    leads_out: bool = False              # perhaps to the end of the kernel
    steps: list[tuple[Callable, tuple[str, ...]]] = field(default_factory=list)
    fma: list[tuple[int | None, int]] = field(default_factory=list)    # (line, FMA instructions)
    condition: Callable | None = None    # of a branch
    number: Callable | None = None       # of a barrier: which one,
    expected: Callable | None = None     # how many threads meet there,
    vote: Callable | None = None         # and the predicate of a vote

    @property
    def end(self) -> Jump | Branch | Barrier:
        return self.block.end

    @property
    def length(self) -> int:
        """Instructions of the block, its end included."""
        return 0 if self.block.added else len(self.block.instructions) + 1

    def instruction_of(self, step: Callable) -> ptx.Instruction:
        """The instruction that a step executes."""
        return self.block.instructions[[s for s, _ in self.steps].index(step)]

    @property
    def plain_barrier(self) -> bool:
        """A barrier for all threads, without a vote."""
        return self.expected is None and self.vote is None


class Program:
    """A kernel, decoded. It holds nothing that depends on a launch, so it is made once."""

    def __init__(self, kernel: ptx.Kernel, info: DebugInfo | None = None,
                 global_loads: Mapping[int, int] | None = None):
        self.kernel, self.variables = kernel, kernel.variables
        blocks = flow.basic_blocks(kernel)
        if info is None:    # ptxas does neither to unoptimised PTX
            fusing.fuse(blocks)
            selecting.select(blocks)
        if global_loads is not None:
            blocks = unrolling.unroll(blocks, unrolling.unrolled(blocks, global_loads))
        self.tracking = Tracking(kernel, info, blocks) if info is not None else None
        decoder = TrackingDecoder(kernel, self.tracking) if self.tracking else Decoder(kernel)
        self.controls, self.endings = loops.controls(blocks), flow.endings(blocks)
        decoder.polling = watched.polling(blocks)
        self.targets = watched.targets(kernel.instructions)
        self.codes = [_code(block, blocks, decoder, self.endings) for block in blocks]
        self.constants, self.accesses = decoder.constants, decoder.accesses
        self.types = decoder.types | {STEPS: np.int64}
        if self.tracking:
            self.types |= dict.fromkeys(self.tracking.all_marked(self.tracking.suspects), lambda zero: CLEAN)
        self.has_meetings = any(map(flow.is_arrival, (i for b in blocks for i in b.instructions))) or any(
            isinstance(block.end, Barrier) and block.end.count is not None for block in blocks)
        self._live: dict[tuple[int, ...], frozenset[str]] = {}

    @cached_property
    def parts(self) -> bool:
        """Whether lanes of a warp may go unequally often round a loop that loads."""
        return bool(unrolling.parting([code.block for code in self.codes]))

    def live(self, targets: tuple[int, ...]) -> frozenset[str]:
        """Registers that threads at these blocks may still read."""
        if targets not in self._live:
            live = frozenset({STEPS}).union(*(self.codes[t].block.live for t in targets if t != EXIT))
            self._live[targets] = live.union(self.tracking.all_marked(live)) if self.tracking else live
        return self._live[targets]

    def loop_line(self, block: int) -> int | None:
        """The line of the innermost loop around a block, or of the block itself."""
        around = [control.loop for control in self.controls.values() if block in control.loop.body]
        return min(around, key=lambda loop: len(loop.body)).line if around else self.codes[block].end.line


def load(text: str, entry: str, tracked: bool = False) -> Program:
    """The kernel `entry` of a PTX module; `tracked`: unoptimised PTX, in which undefined values are followed."""
    return decoded(text, entry, tracked)    # which remembers by how it is called


@lru_cache(maxsize=64)
def decoded(text: str, entry: str, tracked: bool) -> Program:
    """What `load` returns, decoded once."""
    return Program(reader.parse(text, entry), debug_info.read(text) if tracked else None)


@lru_cache(maxsize=64)
def unrolled(plain: Program, global_loads: tuple[tuple[int, int], ...]) -> Program:
    """The same kernel with its loops unrolled as by ptxas; (source line, loads from global memory) of the machine code
    tell which."""
    return Program(plain.kernel, global_loads=dict(global_loads))


def _code(block: Block, blocks: list[Block], decoder: Decoder, endings: frozenset[int]) -> Code:
    code = Code(block, leads_out=bool(endings.intersection(block.end.targets)))
    steps = [decoder.step(i) for i in block.instructions]
    dead = _dead(block, blocks)
    if decoder.tracking:
        dead = [(*names, *decoder.tracking.all_marked(names)) for names in dead]
    code.steps = list(zip(steps, dead))
    code.fma = list(Counter(i.line for i in block.instructions if i.is_fma and not i.guard).items())
    end = block.end
    if isinstance(end, Branch):
        code.condition = decoder.condition(end)
    elif isinstance(end, Barrier):
        code.number = decoder.source(end.number, "s32")
        code.expected = decoder.source(end.count, "s32") if end.count is not None else None
        code.vote = decoder.source(end.vote, "pred") if end.vote is not None else None
    return code


def _dead(block: Block, blocks: list[Block]) -> list[tuple[str, ...]]:
    """For each instruction, the registers whose values are not needed after it. Freeing them keeps the cache warm."""
    needed = flow.live_after(block, blocks)
    dead = []
    for i in reversed(block.instructions):
        touched = i.reads | i.writes
        dead.append(tuple(touched - needed))
        if i.guard is None:
            needed -= i.writes
        needed |= i.reads
    return dead[::-1]
