"""A kernel made ready to run: basic blocks of decoded steps, with what the machine wants to know about each block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from gemm_lab.emulator import flow, loops, ptx, reader, watched
from gemm_lab.emulator.decode import Decoder
from gemm_lab.emulator.flow import EXIT, Barrier, Block, Branch, Jump

STEPS = "%steps"    # a register of the emulator's own: the instructions that a thread has executed


@dataclass
class Code:
    """A basic block: `steps` are pairs (step, registers whose values nobody needs afterwards)."""
    block: Block
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
        return len(self.block.instructions) + 1

    def instruction_of(self, step: Callable) -> ptx.Instruction:
        """The instruction that a step executes."""
        return self.block.instructions[[s for s, _ in self.steps].index(step)]

    @property
    def plain_barrier(self) -> bool:
        """A barrier for all threads, without a vote."""
        return self.expected is None and self.vote is None


class Program:
    """A kernel, decoded. It holds nothing that depends on a launch, so it is made once."""

    def __init__(self, kernel: ptx.Kernel):
        self.kernel, self.variables = kernel, kernel.variables
        decoder = Decoder(kernel)
        blocks = flow.basic_blocks(kernel)
        self.controls = loops.controls(blocks)
        decoder.polling = watched.polling(blocks)
        self.targets = watched.targets(kernel.instructions)
        self.codes = [_code(block, blocks, decoder) for block in blocks]
        self.constants, self.accesses = decoder.constants, decoder.accesses
        self.types = decoder.types | {STEPS: np.int64}
        self._live: dict[tuple[int, ...], frozenset[str]] = {}

    def live(self, targets: tuple[int, ...]) -> frozenset[str]:
        """Registers that threads at these blocks may still read."""
        if targets not in self._live:
            self._live[targets] = frozenset({STEPS}).union(*(self.codes[t].block.live for t in targets if t != EXIT))
        return self._live[targets]

    def loop_line(self, block: int) -> int | None:
        """The line of the innermost loop around a block, or of the block itself."""
        around = [control.loop for control in self.controls.values() if block in control.loop.body]
        return min(around, key=lambda loop: len(loop.body)).line if around else self.codes[block].end.line


@lru_cache(maxsize=64)
def load(text: str, entry: str) -> Program:
    """The kernel `entry` of a PTX module."""
    return Program(reader.parse(text, entry))


def _code(block: Block, blocks: list[Block], decoder: Decoder) -> Code:
    code = Code(block)
    steps = [decoder.step(i) for i in block.instructions]
    code.steps = list(zip(steps, _dead(block, blocks)))
    code.fma = list(Counter(i.line for i in block.instructions if i.is_fma).items())
    end = block.end
    if isinstance(end, Branch):
        code.condition = decoder.source(end.predicate, "pred")
    elif isinstance(end, Barrier):
        code.number = decoder.source(end.number, "s32")
        code.expected = decoder.source(end.count, "s32") if end.count is not None else None
        code.vote = decoder.source(end.vote, "pred") if end.vote is not None else None
    return code


def _dead(block: Block, blocks: list[Block]) -> list[tuple[str, ...]]:
    """For each instruction, the registers whose values are not needed after it. Freeing them keeps the cache warm."""
    needed = set().union(*(blocks[t].live for t in block.end.targets if t != EXIT)) | flow.read_at_end(block.end)
    dead = []
    for i in reversed(block.instructions):
        touched = flow.read(i) | flow.written(i)
        dead.append(tuple(touched - needed))
        if i.guard is None:
            needed -= flow.written(i)
        needed |= flow.read(i)
    return dead[::-1]
