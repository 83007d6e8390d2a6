"""Operands: which register an instruction reads or writes, and as what type.

Registers, constants, special registers and addresses of variables all live in one dictionary (`registers.Registers`),
so an operand comes down to a name in it, and perhaps a way to look at what is there: `adapt`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemm_lab.emulator.instructions import TYPES
from gemm_lab.emulator.ptx import Immediate, Kernel, Not, Register, Special, Symbol, Unsupported, number
from gemm_lab.emulator.threads import SPECIAL_REGISTERS

Adapt = Callable | None    # None: take it as it is


class Operands:
    """Resolves the operands of one kernel. Collects the types of its registers and its constants on the way."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.types: dict[str, type] = {}               # register -> NumPy type
        self.constants: dict[str, np.generic] = {}     # name -> value

    def source(self, operand, kind: str) -> Callable:
        """A function from the batch to the operand's values, as PTX type `kind`."""
        name, adapt = self.named(operand, kind)
        if adapt is None:
            return lambda b: b.registers[name]
        return lambda b: adapt(b.registers[name])

    def named(self, operand, kind: str) -> tuple[str, Adapt]:
        """The operand's name in the dictionary, and how to see what is there as PTX type `kind`."""
        want = TYPES[kind]
        if isinstance(operand, Register):
            return self.register(operand), conversion(kept_as(operand.type), want)
        if isinstance(operand, Not):
            return self.register(operand.register), np.logical_not
        if isinstance(operand, Immediate):
            return self.constant(operand.text, want), None
        if isinstance(operand, Special) and operand.name in SPECIAL_REGISTERS:
            return "%" + operand.name, conversion(np.int32, want)
        if isinstance(operand, Symbol) and operand.name in self.kernel.variables:
            offset = np.int64(operand.offset)
            return "&" + operand.name, lambda x: (x + offset).astype(want)
        name = getattr(operand, "name", operand)
        raise Unsupported(f"the special register %{name}" if isinstance(operand, Special) else f"the address of {name}")

    def register(self, register: Register) -> str:
        if register.type not in TYPES:
            raise Unsupported(f"registers of type .{register.type}")
        self.types[register.name] = kept_as(register.type)
        return register.name

    def constant(self, text: str, want: type) -> str:
        name = f"={text}:{np.dtype(want).name}"
        self.constants[name] = constant(text, want)
        return name

    def result(self, operand: Register | None, kind: str) -> tuple[str, Adapt]:
        """Where a result of PTX type `kind` goes, and how to make it fit."""
        if operand is None:
            return "_", None
        if not isinstance(operand, Register):
            raise Unsupported(f"the result {operand}")
        name, have, got = self.register(operand), kept_as(operand.type), TYPES[kind]
        if np.dtype(have).itemsize > np.dtype(got).itemsize:    # extended by the sign, or by zeros if it has none
            unsigned = TYPES["u" + kind[1:]] if kind[0] == "b" else got
            return name, lambda x: x.view(unsigned).astype(have)
        return name, conversion(got, have)

    def writer(self, operand: Register | None, kind: str) -> Callable:
        """A function (batch, values) that writes a result of PTX type `kind`."""
        name, adapt = self.result(operand, kind)

        def write(b, values):
            b.registers[name] = adapt(values) if adapt else values
        return write


def kept_as(kind: str) -> type:
    """The NumPy type in which a register of that PTX type is kept: integers are kept signed."""
    if kind == "f16":
        return np.int16
    return TYPES["s" + kind[1:] if kind[0] in "bu" else kind]


def conversion(have: type, want: type) -> Adapt:
    """How to see values kept as `have` as type `want`: the same bits, or the lowest of them."""
    if have == want:
        return None
    have_, want_ = np.dtype(have), np.dtype(want)
    if have_.itemsize == want_.itemsize:
        return lambda x: x.view(want)
    if have_.kind not in "iu" or want_.kind not in "iu":
        raise Unsupported(f"a {have_.name} register where {want_.name} is needed")
    as_wide = np.dtype(f"{want_.kind}{have_.itemsize}").type
    return lambda x: x.view(as_wide).astype(want)


def constant(text: str, want: type):
    """An immediate operand as a NumPy scalar of a type."""
    size, is_float = np.dtype(want).itemsize, np.dtype(want).kind == "f"
    if want == np.bool_:
        return np.bool_(number(text))
    if is_float and text[:2].lower() not in ("0f", "0d"):
        return want(float(text))
    bits = number(text)
    if is_float:
        return want(np.uint32(bits).view(np.float32) if text[1] in "fF" else np.uint64(bits).view(np.float64))
    return np.array(bits & (2**(8 * size) - 1), f"u{size}").view(want)[()]
