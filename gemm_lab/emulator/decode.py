"""From a PTX instruction to a *step*: a Python function that executes it for a group of threads.

Each instruction is decoded once, before the kernel runs. A step takes the batch (`machine.Batch`) and works on its
registers and memory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemm_lab.emulator import memory_steps, system_steps, warp_steps
from gemm_lab.emulator.flow import Branch, feeding, registers
from gemm_lab.emulator.instructions import TYPES, Meaning, meaning, opposite
from gemm_lab.emulator.memory import LOCAL_TAG, SHARED_TAG, Access
from gemm_lab.emulator.operands import Operands
from gemm_lab.emulator.ptx import SIZES, Instruction, Kernel, Pair, Unsupported
from gemm_lab.emulator.reports import Stop, finding

Step = Callable[[object], None]
# What changes when things happen on a GPU, and not what happens.
NO_EFFECT = {"prefetch", "prefetchu", "nanosleep", "brkpt", "pmevent", "discard", "applypriority"}


class Decoder(Operands):
    """Decodes the instructions of one kernel. `accesses` collects its loads, stores and atomics."""

    def __init__(self, kernel: Kernel):
        super().__init__(kernel)
        self.accesses: list[Access] = []
        self.index_of = {id(i): n for n, i in enumerate(kernel.instructions)}    # equal ones are still different
        self.feeding_cas = feeding_cas(kernel)
        self.read = {name for i in kernel.instructions for name in i.reads}
        self.polling: set[Instruction] = set()    # see `watched`
        self.tracking = None                      # see `tracking`

    def step(self, i: Instruction) -> Step:
        """The step of an instruction. One that is not supported stops the run, if a thread gets there."""
        try:
            step = self.unguarded(i)
            return self.guarded(step, i) if i.guard else step
        except Unsupported as problem:
            return stopping(str(problem), i.line)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):    # operands of an unexpected form
            return stopping(f"`{i.text}`", i.line)

    def arrays_of(self, i: Instruction) -> tuple:
        """The local arrays that an access may touch, if that is known."""
        return ()

    def is_answered(self, i: Instruction) -> bool:
        """Whether it is an atomic whose old value some instruction reads."""
        return i.opcode[0] == "atom" and not self.read.isdisjoint(i.writes)

    def condition(self, end: Branch) -> Callable:
        """A function from the batch to the predicate of a branch."""
        return self.source(end.predicate, "pred")

    def unguarded(self, i: Instruction) -> Step:
        name = i.opcode[0]
        if name in STEPS:
            return STEPS[name](self, i)
        if name in NO_EFFECT:
            return lambda b: None
        if any(isinstance(operand, tuple) for operand in i.operands):
            return self.pack(i)
        return self.arithmetic(i)

    def guarded(self, step: Step, i: Instruction) -> Step:
        """@p: only the threads whose predicate holds execute the instruction."""
        predicate = self.source(i.guard, "pred")

        def run(b):
            chosen = predicate(b)
            members = b.group.n * bool(chosen) if chosen.ndim == 0 else int(np.count_nonzero(chosen))
            if i.is_fma and b.tally is not None:
                b.tally.fma[i.line] += members
            if members == b.group.n:
                step(b)
            elif members:
                b.narrow(chosen, step)
        return run

    # ---- arithmetic

    def arithmetic(self, i: Instruction) -> Step:
        found = meaning(i.opcode)
        target, *sources = i.operands
        if len(sources) != len(found.sources):
            raise Unsupported(f"`{i.text}`")
        if isinstance(target, Pair):
            return self.two_results(i, found)
        return self.compute(target, found.result, found.function, sources, found.sources)

    def compute(self, target, kind: str, function: Callable, sources, kinds) -> Step:
        """target = function(sources)"""
        name, finish = self.result(target, kind)
        named = [self.named(source, kind) for source, kind in zip(sources, kinds)]
        return assignment(name, adapted(function, [adapt for _, adapt in named], finish), [n for n, _ in named])

    def two_results(self, i: Instruction, found: Meaning) -> Step:
        """setp p|q: the comparison and its opposite."""
        target, *sources = i.operands
        values = [self.source(source, kind) for source, kind in zip(sources, found.sources)]
        write, write_inverse = self.writer(target.first, "pred"), self.writer(target.second, "pred")
        inverse = opposite(i.opcode)

        def step(b):
            now = [value(b) for value in values]
            write(b, found.function(*now))
            write_inverse(b, inverse(*now))
        return step

    def pack(self, i: Instruction) -> Step:
        """mov between one register and a vector of smaller ones: {%r1, %r2} <-> %rd1."""
        target, source = i.operands
        parts = target if isinstance(target, tuple) else source
        whole = "u" + i.opcode[-1][1:]
        bits = 8 * SIZES[whole] // len(parts)
        if i.opcode[0] != "mov" or len(i.opcode) != 2:
            raise Unsupported(f"`{i.text}`")
        if isinstance(target, tuple):
            return self._unpack(source, whole, parts, bits)
        wide, write = TYPES[whole], self.writer(target, whole)
        values = [self.source(part, f"u{bits}") for part in parts]

        def step(b):
            write(b, sum((value(b).astype(wide) << wide(k * bits) for k, value in enumerate(values)), wide(0)))
        return step

    def _unpack(self, source, whole: str, parts, bits: int) -> Step:
        value, narrow = self.source(source, whole), TYPES[f"u{bits}"]
        writes = [self.writer(part, f"u{bits}") for part in parts]

        def step(b):
            x = value(b)
            for k, write in enumerate(writes):
                write(b, (x >> x.dtype.type(k * bits)).astype(narrow))
        return step

    # ---- addresses

    def cvta(self, i: Instruction) -> Step:
        """Between the addresses of one kind of memory and generic ones, which say the kind themselves."""
        tag = SHARED_TAG if "shared" in i.opcode else LOCAL_TAG if "local" in i.opcode else 0
        change = np.int64(-tag if "to" in i.opcode else tag)
        return self.compute(i.operands[0], "b64", lambda a: a + change if tag else a, i.operands[1:], ("b64",))

    def fence(self, i: Instruction) -> Step:
        """__threadfence: matters to the search for races, unless it is for the own block only."""
        wide = bool({"gl", "gpu", "sys"} & set(i.opcode))
        return lambda b: b.fence() if wide else None

    def isspacep(self, i: Instruction) -> Step:
        """Whether a generic address lies in a kind of memory."""
        tags = {"shared": (1,), "local": (2,)}.get(i.opcode[1].split("::")[0], (0,))
        return self.compute(i.operands[0], "pred", lambda a: np.isin(a >> np.int64(56), tags), i.operands[1:], ("s64",))

    def unsupported(self, i: Instruction) -> Step:
        """What the reader could not make sense of."""
        raise Unsupported(i.operands[0].text)


STEPS = {"cvta": Decoder.cvta, "isspacep": Decoder.isspacep, "unsupported": Decoder.unsupported,
         "membar": Decoder.fence, "fence": Decoder.fence,
         **memory_steps.STEPS, **warp_steps.STEPS, **system_steps.STEPS}


def feeding_cas(kernel: Kernel) -> set[Instruction]:
    """The instructions that make the values with which an atomic compare-and-swap compares."""
    compared = set().union(*({r.name for r in registers(i.operands[2])} for i in kernel.instructions
                             if i.opcode[0] == "atom" and "cas" in i.opcode))
    return set(feeding(kernel.instructions, compared)[0]) if compared else set()


def assignment(target: str, function: Callable, sources: list[str]) -> Step:
    """registers[target] = function(registers[sources]), written out for the usual numbers of sources."""
    def one(b):
        registers = b.registers
        registers[target] = function(registers[first])

    def two(b):
        registers = b.registers
        registers[target] = function(registers[first], registers[second])

    def three(b):
        registers = b.registers
        registers[target] = function(registers[first], registers[second], registers[third])

    def many(b):
        registers = b.registers
        registers[target] = function(*[registers[name] for name in sources])

    first, second, third = (*sources, "", "", "")[:3]
    return {1: one, 2: two, 3: three}.get(len(sources), many)


def adapted(function: Callable, before: list[Callable | None], after: Callable | None) -> Callable:
    """`function` with its arguments and its result adapted."""
    if len(before) == 1 and before[0]:
        inner, first = function, before[0]
        function = lambda x: inner(first(x))    # noqa: E731
    elif any(before):
        inner, adapts = function, [adapt or (lambda x: x) for adapt in before]
        function = lambda *xs: inner(*[adapt(x) for adapt, x in zip(adapts, xs)])    # noqa: E731
    if after is None:
        return function
    return lambda *xs: after(function(*xs))


def stopping(message: str, line: int | None) -> Step:
    """A step that stops the run: the emulator does not know this construct."""
    def step(b):
        raise Stop(finding("unsupported", line, f"the emulator does not support {message}"))
    return step
