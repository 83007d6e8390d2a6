"""Operations: the small compiled functions of which every kernel's code consists.

A kernel is a list of *records*: which operation, and six operands, most of which say where in the arena a register
lies. An operation executes one record for the lanes of one warp that are in `mask`, and ends by jumping to the
operation of the next record. So a kernel needs no compiler of its own: only operations that were never used before are
compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

from gemm_lab.emulator.instructions import TYPES
from gemm_lab.emulator.llvm.functions import Function
from gemm_lab.emulator.llvm.structures import CONTEXT, RECORD, RECORD_BYTES
from gemm_lab.emulator.llvm.values import Value, bits
from gemm_lab.emulator.ptx import Unsupported

ALL = 0xFFFFFFFF    # the set of all lanes


def kept(kind: str) -> str:
    """The PTX type in which a register is kept: integers are kept signed."""
    if kind not in TYPES or kind == "f16":
        raise Unsupported(f"registers of type .{kind}")
    return "s" + kind[1:] if kind[0] in "bu" else kind


class Operation(Function):
    """An operation that is being written. `ip` points to its record, `base` to the arena."""

    def __init__(self, name: str):
        super().__init__(name, ("ip", "ptr"), ("base", "ptr"), ("mask", "u32"))
        self.ip, self.base, self.mask = self.parameters
        self.lanes = self.mask.predicates()

    # ---- operands

    def operand(self, n: int) -> Value:
        """The n-th operand, a number."""
        return (self.ip + (RECORD.operands.at + 4 * n)).load("s32")

    def place(self, n: int) -> Value:
        """Where the n-th operand lies in the arena."""
        return self.base + self.operand(n)

    def read(self, n: int, kind: str, register: str = "") -> Value:
        """The n-th operand's lanes as PTX type `kind`; `register` is the type in which it is kept."""
        register = register or kept(kind)
        if register == "pred":
            return self.place(n).load("u32").predicates()
        value = self.place(n).load(register, 32)
        if bits(register) == bits(kind):
            return value.seen_as(kind)
        if "f" in register[0] + kind[0] or kind == "pred":
            raise Unsupported(f"a register of type {register} where {kind} is needed")
        return value.seen_as(("u" if kind[0] == "u" else "s") + register[1:]).to(kind)

    def put(self, n: int, value: Value, register: str = "") -> None:
        """Write a result into the register that the n-th operand names, for the active lanes.

        A wider register is filled with the sign, or with zeros if the result has none.
        """
        register, place = register or kept(value.kind), self.place(n)
        if register == "pred" or value.kind == "pred":
            return self._put_predicates(place, value, register)
        if bits(register) > bits(value.kind) and value.kind[0] == "b":
            value = value.seen_as("u" + value.kind[1:])
        if bits(register) != bits(value.kind) and "f" in register[0] + value.kind[0]:
            raise Unsupported(f"a result of type {value.kind} in a register of type {register}")
        value = value.to(register)
        with self.when(self.mask != ALL):
            place.store(self.select(self.lanes, value, place.load(register, 32)))
        with self.when(self.mask == ALL):
            place.store(value)

    def _put_predicates(self, place: Value, value: Value, register: str) -> None:
        if register != value.kind:
            raise Unsupported(f"a result of type {value.kind} in a register of type {register}")
        place.store((value.set() & self.mask) | (place.load("u32") & ~self.mask))

    # ---- what comes then

    def next(self) -> None:
        """Go on with the next record."""
        self.go(self.ip + RECORD_BYTES)

    def go(self, ip: Value, mask: Value | None = None) -> None:
        """Go on with another record."""
        self.jump_to(ip[RECORD.operation].name, ip, mask or self.mask)

    def jump_to(self, function: str, ip: Value, mask: Value) -> None:
        if function[0] == "@":
            self.declare(function[1:], "void", "ptr", "ptr", "i32")
        self.do(f"musttail call void {function}(ptr {ip.name}, ptr {self.base.name}, i32 {mask.name})")
        self.ret()

    def fail(self) -> None:
        """Leave the launch to the NumPy back end."""
        self.base[CONTEXT.stop] = 1
        self.ret()

    def require(self, condition: Value) -> None:
        """Fail unless a condition holds; one for each lane must hold in all that are active."""
        failed = ~condition
        with self.when((failed.set() & self.mask) != 0 if failed.lanes > 1 else failed):
            self.fail()


def compute(name: str, function, sources: Sequence[tuple[str, str]], result: str) -> Operation:
    """target = function(sources). A source is (PTX type, type of its register); `result` the type of the target's."""
    f = Operation(name)
    f.put(0, function(*(f.read(n, *source) for n, source in enumerate(sources, 1))), result)
    f.next()
    return f
