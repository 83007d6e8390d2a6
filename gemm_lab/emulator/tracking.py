"""Steps that let the codes of undefined values travel with the values: see `undefined`.

Only *suspects* are followed: registers that may be read before they are written, what is loaded from memory, and what
is computed from suspects. Indices and addresses, which come from arguments and thread numbers, are mostly not among
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from gemm_lab.emulator import flow, warp
from gemm_lab.emulator.debug_info import Array, DebugInfo, Variable
from gemm_lab.emulator.decode import Decoder, Step
from gemm_lab.emulator.flow import Block, Branch
from gemm_lab.emulator.local_arrays import arrays_reached
from gemm_lab.emulator.ptx import SIZES, Address, Immediate, Instruction, Kernel, Register, Symbol, number
from gemm_lab.emulator.undefined import CLEAN, MARK, clean, combined

_LOADS, _STORES = {"ld", "ldu", "atom"}, {"st", "red"}
_COPIES = {"mov", "selp", "shfl"}    # what is copied has not been used yet


class Tracking:
    """What is worked out about a kernel before it runs.

    suspects  registers that may hold undefined values
    at_start  those that may be read before they are written
    begins    for an instruction, by its `id`: what begins to exist there, local arrays and registers of a variable that
              a block declares, as far as they might be read before they are written
    data      for each access, by its number, the marked names of the registers it moves (None: never undefined)
    """

    def __init__(self, kernel: Kernel, info: DebugInfo, blocks: list[Block]):
        self.kernel, self.info = kernel, info
        self.at_start = blocks[0].live
        self.arrays = arrays_reached(kernel, info)
        self.begins = begins(kernel, info, blocks, self.arrays)
        in_blocks = {name for _, names in self.begins.values() for name in names}
        self.suspects = suspects(kernel.instructions, in_blocks | self.at_start)
        self.data: dict[int, tuple[str | None, ...]] = {}

    def marked(self, operand) -> str | None:
        """The register with the codes of an operand."""
        return MARK + operand.name if isinstance(operand, Register) and operand.name in self.suspects else None

    def all_marked(self, names) -> list[str]:
        return [MARK + name for name in names if name in self.suspects]

    def variable(self, register: str) -> Variable | None:
        """The source's variable that lives in a register."""
        name, _, scope = register.partition("@")
        return self.info.registers.get((self.kernel.functions.get(int(scope or 0), ""), name))


def suspects(instructions: list[Instruction], found: set[str]) -> set[str]:
    """The registers that may hold what nobody has set."""
    grown = True
    while grown:
        before = len(found)
        for i in instructions:
            loads = i.opcode[0] in _LOADS and "param" not in i.opcode
            if loads or i.reads & found:
                found |= i.writes
        grown = len(found) > before
    return found


def begins(kernel: Kernel, info: DebugInfo, blocks: list[Block],
           reached: dict[int, tuple[Array, ...]]) -> dict[int, tuple[list[Array], list[str]]]:
    """The local arrays and registers that begin to exist at an instruction, by its `id`.

    The first value of a loop's counter may stand before the block that is said to declare it: then it is left out.
    """
    arrays, variables = defaultdict(list), defaultdict(lambda: defaultdict(set))
    for array in info.arrays:
        arrays[array.function, array.begin].append(array)
    for (function, register), variable in info.registers.items():
        variables[function, variable.begin][variable].add(register)
    found = {}
    for (scope, label), at in kernel.labels.items():
        key = kernel.functions.get(scope), label
        if at < len(kernel.instructions) and (key in arrays or key in variables):
            live, names = live_before(kernel.instructions[at], blocks), set()
            for variable, registers in variables[key].items():
                own = {register + (f"@{scope}" if scope else "") for register in registers}
                outside = outside_of(kernel, at, kernel.labels.get((scope, variable.end)))
                if own & live and not any(i.writes & own and not (i.reads and i.reads <= own) for i in outside):
                    names |= own & live
            inside = [a for a in arrays[key] if not any(
                a in reached.get(id(i), ()) for i in outside_of(kernel, at, kernel.labels.get((scope, a.end))))]
            found[id(kernel.instructions[at])] = inside, sorted(names)
    return found


def outside_of(kernel: Kernel, begin: int, end: int | None) -> list[Instruction]:
    """The instructions that are not between two of them; all, where the end is not known."""
    return kernel.instructions if end is None else [*kernel.instructions[:begin], *kernel.instructions[end:]]


def live_before(instruction: Instruction, blocks: list[Block]) -> set[str]:
    """The registers that may be read, from this instruction on, before they are written."""
    for block in blocks:
        if any(i is instruction for i in block.instructions):
            live = flow.live_after(block, blocks)
            for i in reversed(block.instructions):
                live = live - (i.writes if i.guard is None else set()) | i.reads
                if i is instruction:
                    return live
    return set()    # it ends a block


class TrackingDecoder(Decoder):
    """Decodes the instructions of one kernel into steps that follow undefined values."""

    def __init__(self, kernel: Kernel, tracking: Tracking):
        super().__init__(kernel)
        self.tracking = tracking

    def arrays_of(self, i: Instruction) -> tuple[Array, ...]:
        return self.tracking.arrays.get(id(i), ())

    def unguarded(self, i: Instruction) -> Step:
        known = len(self.accesses)
        step = super().unguarded(i)
        if len(self.accesses) > known:
            step = self.moving(step, i, known)
        else:
            step = self.computing(step, i)
        return self.starting(step, i)

    def guarded(self, step: Step, i: Instruction) -> Step:
        return self.deciding(super().guarded(step, i), i.guard, i.line)

    def condition(self, end: Branch) -> Callable:
        return self.deciding(super().condition(end), end.predicate, end.line)

    def deciding(self, step: Callable, predicate, line: int | None) -> Callable:
        """A step whose effect depends on a predicate."""
        names = self.tracking.all_marked(r.name for r in flow.registers(predicate))
        if not names:
            return step

        def run(b):
            if b.registers[names[0]] is not CLEAN:
                b.undefined.decides(b.registers[names[0]], line)
            return step(b)
        return run

    # ---- memory

    def moving(self, step: Step, i: Instruction, number: int) -> Step:
        """A load, store or atomic: `requests` tells `undefined` what it moves; its address must be defined."""
        marked = self.tracking.marked
        if i.opcode[0] in ("ld", "ldu"):
            self.tracking.data[number] = tuple(map(marked, _parts(i.operands[0])))
        elif i.opcode[0] == "st":
            self.tracking.data[number] = tuple(map(marked, _parts(i.operands[1])))
        elif i.opcode[0] in ("atom", "red"):
            returns = i.opcode[0] == "atom"
            result = i.operands[0] if returns else None
            self.tracking.data[number] = (marked(result), *map(marked, i.operands[2 if returns else 1:]))
        addresses = [o.base for o in i.operands if isinstance(o, Address)]
        names = list(filter(None, map(marked, addresses)))
        if not names:
            return step

        def run(b):
            code = combined([b.registers[name] for name in names])
            if code is not CLEAN:
                b.undefined.is_address(code, i.line)
            step(b)
        return run

    def starting(self, step: Step, i: Instruction) -> Step:
        """Before this instruction, variables begin to exist: the arrays of a function, or what a block declares."""
        arrays, registers = self.tracking.begins.get(id(i), ([], []))
        depots = [o.name for o in i.operands if i.opcode[0] == "mov" and isinstance(o, Symbol)
                  and o.name.startswith("__local_depot")]
        if not arrays and not depots and not registers:
            return step

        def run(b):
            local = b.spaces["local"]
            for region in [*map(local.named, depots), *map(local.part, arrays)]:
                b.undefined.forget(region)
            for name in registers:
                b.registers[MARK + name] = b.undefined.fresh(name)
            step(b)
        return run

    # ---- arithmetic

    def computing(self, step: Step, i: Instruction) -> Step:
        """The result of an instruction is as undefined as what it reads."""
        targets = self.tracking.all_marked(i.writes)
        if not targets:
            return step
        sources = self.tracking.all_marked(i.reads)
        codes = {"selp": self.chosen, "shfl": self.shuffled, "and": self.masked, "or": self.masked}.get(
            i.opcode[0], self.any_of)(i, sources)
        is_copy = i.opcode[0] in _COPIES

        def run(b):
            code = codes(b) if sources else CLEAN
            step(b)
            if code is not CLEAN and not is_copy:
                code = b.undefined.used(code, i.line)
            for name in targets:
                b.registers[name] = code
        return run

    def any_of(self, i: Instruction, sources: list[str]) -> Callable:
        return lambda b: combined([b.registers[name] for name in sources])

    def code_of(self, operand) -> Callable:
        name = self.tracking.marked(operand)
        return (lambda b: b.registers[name]) if name else (lambda b: CLEAN)

    def chosen(self, i: Instruction, sources: list[str]) -> Callable:
        """selp takes one of two values."""
        a, b_, which = map(self.code_of, i.operands[1:])
        predicate = self.source(i.operands[3], "pred")

        def codes(b):
            one, other, decides = a(b), b_(b), which(b)
            if one is not CLEAN or other is not CLEAN:
                one = clean(np.where(predicate(b), one, other))
            return combined([one, decides])
        return codes

    def shuffled(self, i: Instruction, sources: list[str]) -> Callable:
        """shfl takes another lane's value."""
        mode = next(part for part in i.opcode if part in ("up", "down", "bfly", "idx"))
        value = self.code_of(i.operands[1])
        lane, clamp = self.source(i.operands[2], "b32"), self.source(i.operands[3], "b32")

        def codes(b):
            code = value(b)
            return code if code is CLEAN else clean(warp.shuffle(b.group, mode, code, lane(b), clamp(b))[0])
        return codes

    def masked(self, i: Instruction, sources: list[str]) -> Callable:
        """0 & x is 0 whatever x is, and so with ones for `or`.

        A bit field is set by masking its old bits out of the word around it, which may not have a value yet. Codes do
        not tell bits apart; so the word counts as set then.
        """
        kind = i.opcode[-1]
        constants = [number(o.text) for o in i.operands[1:] if isinstance(o, Immediate)]
        if i.opcode[0] == "and" and any(c >> 8 * SIZES[kind] - 1 & 1 for c in constants if kind != "pred"):
            return lambda b: CLEAN
        absorbs = (lambda x: x == 0) if i.opcode[0] == "and" else (lambda x: ~x == 0)
        operands = [(self.source(operand, kind), self.code_of(operand)) for operand in i.operands[1:]]

        def codes(b):
            found = combined([code(b) for _, code in operands])
            if found is CLEAN:
                return CLEAN
            for value, code in operands:
                found = np.where(absorbs(value(b)) & (code(b) == 0), 0, found)
            return clean(found)
        return codes


def _parts(operand) -> tuple:
    return operand if isinstance(operand, tuple) else (operand,)
