"""The registers of one basic block as vectors: reading an operand as a PTX type, and writing a result."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab.emulator import operands
from gemm_lab.emulator.instructions import TYPES
from gemm_lab.emulator.llvm import context as c
from gemm_lab.emulator.llvm.ir import Writer, bits, constant, element, splat, vector
from gemm_lab.emulator.ptx import Immediate, Not, Register, Special, Symbol, Unsupported
from gemm_lab.emulator.threads import SPECIAL_REGISTERS

PCS = "<32 x i32>"


@dataclass
class Value:
    """A register's contents: `any_nan` if a NaN in it may not be the GPU's yet."""
    name: str
    any_nan: bool = False


def kept(kind: str) -> str:
    """The PTX type in which a register is kept: integers are kept signed."""
    if kind not in TYPES or kind == "f16":
        raise Unsupported(f"registers of type .{kind}")
    return "s" + kind[1:] if kind[0] in "bu" else kind


class Operands:
    """Resolves the operands of one basic block; `kernel` is the translation to which it belongs."""

    def __init__(self, kernel, writer: Writer):
        self.kernel, self.w = kernel, writer
        self.values: dict[str, Value] = {}

    def source(self, operand, kind: str, any_nan: bool = False) -> str:
        """An operand's lanes as PTX type `kind`."""
        w = self.w
        if isinstance(operand, Register):
            return self.convert(self.read(operand, any_nan), kept(operand.type), kind)
        if isinstance(operand, Not):
            return w.op(f"xor <32 x i1> {self.read(operand.register)}, {splat('i1', 'true')}")
        if isinstance(operand, Immediate):
            return constant(operands.constant(operand.text, TYPES[kind]), kind)
        if isinstance(operand, Special) and operand.name in SPECIAL_REGISTERS:
            return self.convert(self.special(operand.name), "s32", kind)
        if isinstance(operand, Symbol) and operand.name in self.kernel.program.variables:
            address = w.broadcast("i64", self.symbol(operand))
            return w.resize(address, "s64", "s" + kind[1:])
        raise Unsupported(f"the operand {operand}")

    def read(self, register: Register, any_nan: bool = False) -> str:
        """A register as it is kept."""
        name = register.name
        if name not in self.values:
            if name not in self.kernel.places:
                raise Unsupported(f"the register {name}, which nobody writes")
            kind = self.kernel.kinds[name]
            self.values[name] = Value(self.w.load(vector(kind), "%state", self.kernel.places[name]))
        value = self.values[name]
        if value.any_nan and not any_nan:
            nan = self.w.op(f"fcmp uno <32 x float> {value.name}, zeroinitializer")
            fixed = f"bitcast ({PCS} {splat('i32', 0x7FFFFFFF)} to <32 x float>)"
            value = self.values[name] = Value(
                self.w.op(f"select <32 x i1> {nan}, <32 x float> {fixed}, <32 x float> {value.name}"))
        return value.name

    def special(self, name: str) -> str:
        """A read-only register of the hardware."""
        kernel, w = self.kernel, self.w
        if name.startswith("ctaid"):
            return w.broadcast("i32", w.load("i32", "%context", c.BLOCK_INDEX + 4 * "xyz".index(name[-1])))
        if name not in kernel.special:
            kernel.special.append(name)
        return w.load(PCS, "%special", 128 * kernel.special.index(name))

    def symbol(self, symbol: Symbol) -> str:
        """The address of a variable, a scalar."""
        known, w = self.kernel.symbols, self.w
        if symbol.name not in known:
            known.append(symbol.name)
        address = w.load("i64", w.load("ptr", "%context", c.SYMBOLS), 8 * known.index(symbol.name))
        return w.op(f"add i64 {address}, {symbol.offset}") if symbol.offset else address

    def convert(self, value: str, have: str, want: str) -> str:
        """See lanes of one type as another: the same bits, or the lowest of them, or extended (as in `operands`)."""
        if bits(have) == bits(want):
            same = element(have) == element(want)
            return value if same else self.w.op(f"bitcast {vector(have)} {value} to {vector(want)}")
        if "f" in have[0] + want[0] or "pred" in (have, want):
            raise Unsupported(f"a register of type {have} where {want} is needed")
        return self.w.resize(value, "u" + have[1:] if want[0] == "u" else have, want)

    def assign(self, target: Register, kind: str, value: str, any_nan: bool = False) -> None:
        """Write a result of PTX type `kind` into a register; a wider register is filled with the sign, or zeros."""
        have = kept(target.type)
        if bits(have) > bits(kind) and kind[0] == "b":
            kind = "u" + kind[1:]
        if bits(have) > bits(kind):
            if "f" in have[0] + kind[0] or kind == "pred":
                raise Unsupported(f"a result of type {kind} in a register of type {have}")
            value = self.w.resize(value, kind, have)
        else:
            if any_nan and have != "f32":
                self.values["%"], any_nan = Value(value, True), False
                value = self.read(Register("%", "f32"))
            value = self.convert(value, kind, have)
        self.values[target.name] = Value(value, any_nan)
