"""Which local array an address belongs to, worked out before the kernel runs.

All arrays of a thread lie side by side in one piece of local memory, the depot, so an index that runs past the end of
one lands in the next, and the address alone does not show it. But unoptimised PTX computes every address anew from the
place of its variable: `add.u64 %rd1, %SP, 32` is where the variable at byte 32 of the depot begins. Following that
register through copies, additions, and local variables that hold pointers (a lambda's captures do) tells, for each load
and store, which variables its address can have come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gemm_lab.emulator.debug_info import Array, DebugInfo
from gemm_lab.emulator.ptx import (
    SIZES,
    Address,
    Immediate,
    Instruction,
    Kernel,
    Register,
    Symbol,
    number,
    registers,
)

_SUMS = {"add", "sub", "mad", "and", "or", "min", "max"}       # an address and an offset
_COPIES = {"mov", "cvta", "selp"}
_LOADS, _STORES = {"ld", "ldu", "atom"}, {"st", "red"}
MAX_STEPS = 8    # places that a register can have before they count as one with an unknown offset


@dataclass(frozen=True)
class Place:
    """Byte `offset` from where a variable begins, which is byte `at` of a depot; None: the depot itself, any offset."""
    depot: str
    at: int | None
    offset: int | None = 0

    def moved(self, by: int | None) -> Place:
        if self.at is None:
            return self if by is None or not self.depot else Place(self.depot, by)
        return replace(self, offset=None if by is None or self.offset is None else self.offset + by)


ANYWHERE = Place("", None)    # nobody knows where from


def arrays_reached(kernel: Kernel, info: DebugInfo) -> dict[int, tuple[Array, ...]]:
    """For each load and store, by its `id`: the local arrays that it may touch. Left out are those that may do more."""
    if not info.arrays:
        return {}
    places = Places(kernel).solve()
    found = {}
    for i in kernel.instructions:
        reached = [info.array_at(p.depot, p.at) if p.at is not None else None for p in places.of_address(i)]
        if reached and None not in reached:
            found[id(i)] = tuple(sorted(set(reached), key=lambda a: (a.depot, a.offset)))
    return found


class Places:
    """Where addresses come from: for each register, and for each variable that holds a pointer."""

    def __init__(self, kernel: Kernel):
        self.local = {name for name, v in kernel.variables.items() if v.space == "local"}
        self.instructions = [i for i in kernel.instructions if "param" not in i.opcode and _moves_pointers(i)]
        self.all = kernel.instructions
        self.unknown: set[int] = set()      # loads, by `id`, that may give any pointer

    def solve(self) -> Places:
        """Follow all pointers until nothing changes."""
        while True:
            self.registers: dict[str, set[Place]] = {}
            self.pointers: dict[Place, set[Place]] = {}     # what a variable, or a part of one, holds
            self.spoiled: set[Place] = set()                # variables in which some pointer was stored somewhere
            while any([self.follow(i) for i in self.instructions]):
                pass
            doubtful = {id(i) for i in self.instructions if i.opcode[0] in _LOADS and self.is_doubtful(i)}
            if doubtful <= self.unknown:
                return self
            self.unknown |= doubtful

    def follow(self, i: Instruction) -> bool:
        """Take over what one instruction does; whether that was news."""
        if i.opcode[0] in _STORES:
            return any([self.stores(place, value) for place, value in self.moved(i)])
        if i.opcode[0] in _LOADS:
            return any([self.becomes(value, {ANYWHERE} if id(i) in self.unknown else self.pointers.get(place, set()))
                        for place, value in self.moved(i)])
        return any([self.becomes(target, self.result(i)) for target in registers(i.operands[:1])])

    def becomes(self, register, places: set[Place]) -> bool:
        if not isinstance(register, Register):
            return False
        before = self.registers.get(register.name, set())
        known = before | places
        if len(known) > MAX_STEPS:
            known = {place.moved(None) for place in known}
        known = {place for place in known if place.moved(None) not in known - {place}}
        self.registers[register.name] = known
        return known != before

    def stores(self, place: Place, value) -> bool:
        if place.offset is None or place == ANYWHERE:
            new = {replace(place, offset=0)} - self.spoiled
            self.spoiled |= new
            return bool(new)
        known = self.pointers.setdefault(place, set())
        new = self.registers.get(value.name, set()) - known if isinstance(value, Register) else set()
        known |= new
        return bool(new)

    def result(self, i: Instruction) -> set[Place]:
        """Where the result of an instruction can point."""
        sources = i.operands[1:]
        found = set().union(*(self.registers.get(r.name, ()) for r in registers(sources)))
        found |= {Place(s.name, None) for s in sources if isinstance(s, Symbol) and s.name in self.local}
        if i.opcode[0] in _COPIES:
            return found
        constant = next((number(s.text) for s in sources if isinstance(s, Immediate)), None)
        sign = -1 if i.opcode[0] == "sub" else 1
        by = None if constant is None or i.opcode[0] not in ("add", "sub") else sign * constant
        return {place.moved(by) for place in found - {ANYWHERE}} or found

    def is_doubtful(self, i: Instruction) -> bool:
        """Whether a load may give a pointer that was not followed."""
        places = [place for place, _ in self.moved(i)]
        return not places or any(place == ANYWHERE or place.offset is None or place not in self.pointers
                                 or replace(place, offset=0) in self.spoiled or ANYWHERE in self.spoiled
                                 for place in places)

    # ---- addresses

    def of_address(self, i: Instruction) -> set[Place]:
        """The places at which a load or store may reach."""
        if i.opcode[0] not in _LOADS | _STORES or "param" in i.opcode:
            return set()
        address = i.operands[0 if i.opcode[0] in _STORES else 1]
        if not isinstance(address, Address) or not isinstance(address.base, Register):
            return set()
        return {place.moved(address.offset) for place in self.registers.get(address.base.name, ())}

    def moved(self, i: Instruction) -> Iterator[tuple[Place, object]]:
        """For each place and each register that a load or store of pointers moves: both."""
        data = i.operands[1 if i.opcode[0] in _STORES else 0]
        for n, register in enumerate(data if isinstance(data, tuple) else (data,)):
            for place in self.of_address(i):
                yield place.moved(8 * n), register


def _moves_pointers(i: Instruction) -> bool:
    """Whether an instruction moves or computes 64-bit values."""
    if i.opcode[0] in _STORES | _LOADS:
        return SIZES.get(i.opcode[-1]) == 8
    return i.opcode[0] in _SUMS | _COPIES and any(SIZES.get(r.type) == 8 for r in registers(i.operands[:1]))
