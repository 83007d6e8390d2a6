"""Operands of records: where in the arena a register, a constant or a special register lies."""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator import operands
from gemm_lab.emulator.instructions import TYPES
from gemm_lab.emulator.llvm.arena import OF_THE_WARP, Arena
from gemm_lab.emulator.llvm.operations import kept
from gemm_lab.emulator.llvm.structures import CONTEXT
from gemm_lab.emulator.llvm.values import stored
from gemm_lab.emulator.program import Program
from gemm_lab.emulator.ptx import Immediate, Register, Special, Symbol, Unsupported
from gemm_lab.emulator.threads import SPECIAL_REGISTERS

OF_THE_BLOCK = {"ctaid.x": CONTEXT.block_x, "ctaid.y": CONTEXT.block_y, "ctaid.z": CONTEXT.block_z}


class Operands:
    """Resolves the operands of one kernel. `constants` says what must be in the arena before a launch, and where:

    number     bytes of a number              symbol     the address of a variable, and what to add
    special    a special register's name      parameter  the name of an argument, and which byte of it
    nothing    room for a result that nobody wants
    """

    def __init__(self, program: Program, arena: Arena):
        self.program, self.arena = program, arena
        self.constants: dict[tuple, int] = {}

    def source(self, operand, kind: str) -> int:
        """Where an operand lies that is read as PTX type `kind`."""
        if isinstance(operand, Register):
            return self.arena.place(operand)
        if isinstance(operand, Immediate):
            return self.constant("number", kind, operands.constant(operand.text, TYPES[kind]).tobytes())
        if isinstance(operand, Special) and operand.name in SPECIAL_REGISTERS:
            return self.special(operand.name)
        if isinstance(operand, Symbol) and operand.name in self.program.variables:
            return self.constant("symbol", "s64", operand.name, operand.offset)
        raise Unsupported(f"the operand {operand}")

    def kept_as(self, operand, kind: str) -> str:
        """The type in which it lies there."""
        if isinstance(operand, Register):
            return self.arena.kinds[operand.name]
        return "s32" if isinstance(operand, Special) else "s64" if isinstance(operand, Symbol) else kept(kind)

    def target(self, register: Register | None, kind: str) -> int:
        """Where a result goes; None: nobody wants it."""
        return self.constant("nothing", kind) if register is None else self.arena.place(register)

    def special(self, name: str) -> int:
        """Where a read-only register of the hardware lies."""
        if name in OF_THE_BLOCK:
            return OF_THE_BLOCK[name].at
        return self.arena.special[name] if name in OF_THE_WARP else self.constant("special", "s32", name)

    def constant(self, what: str, kind: str, *value) -> int:
        """Where a constant lies, in every lane."""
        key = what, kind, *value
        if key not in self.constants:
            self.constants[key] = self.arena.take(stored(kind, WARP))
        return self.constants[key]
