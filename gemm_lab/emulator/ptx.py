"""What PTX consists of: kernels, instructions, operands.

PTX is the assembly language of an idealised GPU: an endless supply of typed registers, loads and stores that name their
memory, and branches to labels (NVIDIA, "PTX ISA"). `module` and `reader` make these objects from text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

SIZES = {"pred": 1, **{kind + bits: int(bits) // 8 for kind in "busf" for bits in ("8", "16", "32", "64", "128")}}


class Unsupported(Exception):
    """A construct that the emulator does not know; `line` is the source line."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


# ---- operands -------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Register:
    name: str
    type: str                     # "b32", "f32", "pred", ...


@dataclass(frozen=True)
class Not:
    """A predicate read inverted: !%p1"""
    register: Register


@dataclass(frozen=True)
class Immediate:
    """A constant, as it is written."""
    text: str


@dataclass(frozen=True)
class Special:
    """A read-only register of the hardware, such as tid.x."""
    name: str


@dataclass(frozen=True)
class Symbol:
    """The address of a variable, or the name of a label or function."""
    name: str
    offset: int = 0


@dataclass(frozen=True)
class Address:
    """[base + offset]"""
    base: Register | Symbol | Immediate
    offset: int = 0


@dataclass(frozen=True)
class Pair:
    """Two results at once: %p1|%p2"""
    first: Register | None
    second: Register | None


@dataclass(frozen=True)
class Target:
    """A label, with the scopes in which to look for it, innermost first."""
    label: str
    scopes: tuple[int, ...]


def registers(operand) -> Iterator[Register]:
    """Every register in an operand."""
    if isinstance(operand, Register):
        yield operand
    elif isinstance(operand, Not):
        yield operand.register
    elif isinstance(operand, Address):
        yield from registers(operand.base)
    elif isinstance(operand, Pair):
        yield from registers((operand.first, operand.second))
    elif isinstance(operand, tuple):
        for part in operand:
            yield from registers(part)


# ---- instructions and kernels ---------------------------------------------------------------------------------------

_NO_RESULT = {"st", "red", "cp", "bar", "barrier", "membar", "fence", "prefetch", "prefetchu", "trap", "nanosleep",
              "unsupported", "bra", "ret", "exit", "discard", "applypriority", "brkpt", "pmevent"}


@dataclass(frozen=True)
class Instruction:
    opcode: tuple[str, ...]       # ("ld", "global", "v4", "f32")
    operands: tuple               # a vector operand {a, b} is a tuple
    line: int | None              # of the student's source
    text: str
    guard: Register | Not | None = None

    @cached_property
    def writes(self) -> frozenset[str]:
        """Names of the registers that it writes."""
        return frozenset() if self.opcode[0] in _NO_RESULT else frozenset(r.name for r in registers(self.operands[:1]))

    @cached_property
    def reads(self) -> frozenset[str]:
        """Names of the registers that it reads, its guard included."""
        sources = self.operands if self.opcode[0] in _NO_RESULT else self.operands[1:]
        return frozenset(r.name for r in registers((*sources, self.guard)))

    @property
    def is_fma(self) -> bool:
        """A floating-point multiply-add."""
        return self.opcode[0] in ("fma", "mad") and self.opcode[-1][0] == "f"


@dataclass(frozen=True)
class Variable:
    """Memory with a name: `space` is global, const, shared or local."""
    name: str
    space: str
    size: int                     # bytes; 0 for an array without a size (extern __shared__)
    align: int
    data: bytes = b""             # what it holds at the start


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str                     # "u32", "f32", "u64", "b8" for a struct
    size: int                     # bytes


@dataclass
class Kernel:
    """One kernel as a list of instructions; `labels` maps (scope, label) to the index of what follows the label."""
    name: str
    parameters: tuple[Parameter, ...]
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[tuple[int, str], int] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    max_threads: int | None = None    # from __launch_bounds__
    functions: dict[int, str] = field(default_factory=dict)    # the function that a scope belongs to


def number(text: str) -> int:
    """An integer of PTX, or the bits of a 0f… / 0d… float."""
    if text[:2].lower() in ("0f", "0d"):
        return int(text[2:], 16)
    text = text.rstrip("U")
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    return int(text, 8 if octal else 0)
