"""Numbers in a function of machine code that is being written.

A `Value` stands for a number, or for a vector of numbers, in a `Function`: operators on values write instructions of
LLVM's intermediate language. Kinds are PTX types ("s32", "f32", "pred", ...), or "ptr"; a kind says how to divide,
compare and extend. A number that meets a vector stands for the same number in every lane.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab.emulator.ptx import SIZES


def bits(kind: str) -> int:
    """The width of a kind."""
    return 1 if kind == "pred" else 64 if kind == "ptr" else int(kind[1:])


def element(kind: str) -> str:
    """The LLVM type of one number."""
    return {"f32": "float", "f64": "double", "f16": "half", "ptr": "ptr"}.get(kind, f"i{bits(kind)}")


def stored(kind: str, lanes: int = 1) -> int:
    """Bytes that numbers take in memory; predicates are kept as a set of lanes, in 32 bits."""
    return 4 if kind == "pred" else lanes * SIZES.get(kind, 8)


@dataclass(frozen=True)
class Field:
    """A place in a structure in memory, `at` bytes from its start."""
    at: int
    kind: str
    lanes: int = 1


class Value:
    """What an instruction makes: `lanes` numbers of a kind. `name` is LLVM's name for it, or a constant."""

    __hash__ = None

    def __init__(self, f, kind: str, lanes: int, name: str):
        self.f, self.kind, self.lanes, self.name = f, kind, lanes, name

    @property
    def type(self) -> str:
        """Its LLVM type."""
        return f"<{self.lanes} x {element(self.kind)}>" if self.lanes > 1 else element(self.kind)

    @property
    def signed(self) -> bool:
        return self.kind[0] == "s"

    def like(self, other) -> Value:
        """Another value, or a Python number, with as many lanes; a Python number becomes a constant of this kind."""
        if not isinstance(other, Value):
            return self.f.constant(self.kind, other, self.lanes)
        return other.broadcast(self.lanes)

    # ---- arithmetic

    def binary(self, integers: str, floats: str, other, kind: str = "") -> Value:
        """self `operation` other, element by element."""
        if isinstance(other, Value) and other.lanes > self.lanes:
            return self.broadcast(other.lanes).binary(integers, floats, other, kind)
        other = self.like(other)
        operation = floats if self.kind[0] == "f" else integers
        return self.f.op(kind or self.kind, self.lanes, f"{operation} {self.type} {self.name}, {other.name}")

    def __add__(self, other):
        if self.kind == "ptr":
            return self.f.pointer(self, other)
        return self.binary("add", "fadd", other)

    def __sub__(self, other):
        return self.binary("sub", "fsub", other)

    def __mul__(self, other):
        return self.binary("mul", "fmul", other)

    def __truediv__(self, other):
        return self.binary("sdiv" if self.signed else "udiv", "fdiv", other)

    def __mod__(self, other):
        return self.binary("srem" if self.signed else "urem", "frem", other)

    def __and__(self, other):
        return self.binary("and", "", other)

    def __or__(self, other):
        return self.binary("or", "", other)

    def __xor__(self, other):
        return self.binary("xor", "", other)

    def __lshift__(self, other):
        return self.binary("shl", "", other)

    def __rshift__(self, other):
        return self.binary("ashr" if self.signed else "lshr", "", other)

    def __invert__(self):
        return self ^ (True if self.kind == "pred" else -1)

    def __neg__(self):
        if self.kind[0] == "f":
            return self.f.op(self.kind, self.lanes, f"fneg {self.type} {self.name}")
        return self.like(0) - self

    # ---- comparison

    def compare(self, integers: str, floats: str, other) -> Value:
        """A predicate; the names are LLVM's, where "<" stands for "s" or "u", as the kind says."""
        integers = integers.replace("<", "s" if self.signed else "u")
        return self.binary(f"icmp {integers}", f"fcmp {floats}", other, "pred")

    def __eq__(self, other):
        return self.compare("eq", "oeq", other)

    def __ne__(self, other):
        return self.compare("ne", "one", other)

    def __lt__(self, other):
        return self.compare("<lt", "olt", other)

    def __le__(self, other):
        return self.compare("<le", "ole", other)

    def __gt__(self, other):
        return self.compare("<gt", "ogt", other)

    def __ge__(self, other):
        return self.compare("<ge", "oge", other)

    # ---- other forms of the same

    def cast(self, how: str, kind: str, lanes: int = 0) -> Value:
        to = Value(self.f, kind, lanes or self.lanes, "")
        return self.f.op(kind, to.lanes, f"{how} {self.type} {self.name} to {to.type}")

    def to(self, kind: str) -> Value:
        """An integer in more bits (extended by its sign, if its kind has one), in fewer, or under another kind."""
        have, want = bits(self.kind), bits(kind)
        if have == want:
            return self.seen_as(kind)
        return self.cast("trunc" if have > want else "sext" if self.signed else "zext", kind)

    def seen_as(self, kind: str) -> Value:
        """The same bits as another kind."""
        if element(kind) == element(self.kind):
            return Value(self.f, kind, self.lanes, self.name)
        if kind == "ptr":
            return self.cast("inttoptr", kind)
        return self.cast("ptrtoint" if self.kind == "ptr" else "bitcast", kind)

    def broadcast(self, lanes: int) -> Value:
        """One number in every lane."""
        if self.lanes == lanes:
            return self
        t = element(self.kind)
        one = self.f.op(self.kind, lanes, f"insertelement <{lanes} x {t}> poison, {t} {self.name}, i32 0")
        return self.f.op(self.kind, lanes, f"shufflevector {one.type} {one.name}, {one.type} poison, "
                                           f"<{lanes} x i32> zeroinitializer")

    def set(self) -> Value:
        """32 predicates as the set of lanes in which they hold: bit n for lane n."""
        return self.cast("bitcast", "u32", 1)

    def predicates(self) -> Value:
        """A set of lanes as 32 predicates."""
        return self.cast("bitcast", "pred", 32)

    # ---- memory: self is a pointer

    def load(self, kind: str, lanes: int = 1) -> Value:
        """What lies there."""
        to = Value(self.f, kind, lanes, "")
        return self.f.op(kind, lanes, f"load {to.type}, ptr {self.name}, align {SIZES.get(kind, 8)}")

    def store(self, value: Value) -> None:
        self.f.do(f"store {value.type} {value.name}, ptr {self.name}, align {SIZES.get(value.kind, 8)}")

    def __getitem__(self, field: Field) -> Value:
        return (self + field.at).load(field.kind, field.lanes)

    def __setitem__(self, field: Field, value) -> None:
        pattern = Value(self.f, field.kind, field.lanes, "")
        (self + field.at).store(pattern.like(value))
