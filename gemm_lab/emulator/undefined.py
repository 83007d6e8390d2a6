"""Values that nobody has set: where they come from, where they go, and when that is a defect.

Copying such a value is no defect, and neither is computing with it if nobody looks at the result: threads beyond the
edge of C do that in many a correct kernel. It is one as soon as the value decides something that can be seen: when it
is stored in an array of the caller's, when a branch depends on it, or when it is an address. (Seward and Nethercote,
"Using Valgrind to detect undefined value errors with bit-precision", 2005, follow the same rule.)

So each register that may hold such a value has a second one beside it, its name with a question mark in front, which
holds a *code* for each thread: 0 (CLEAN) for a value that was set, else the number of its `Origin` and the place in
memory where it was found. Memory has a `Shadow`. `tracking` makes the codes travel with the values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gemm_lab.emulator.memory import Access, Region, Space
from gemm_lab.emulator.reports import Findings, Stop, cxx_name, element_of, finding, unwritten_shared
from gemm_lab.emulator.requests import Reach

CLEAN = np.int64(0)
MARK = "?"         # a register's codes are in the register of that name, with this in front
PLACE_BITS = 32    # of a code: the place in memory, in units of the shadow; the bits above are the origin's number


@dataclass(frozen=True)
class Origin:
    """Where a value without a value comes from: a register, or what `access` read; `line` is its first use."""
    register: str | None = None
    access: Access | None = None
    space: str = ""
    line: int | None = None


class Shadow:
    """Which places of a memory were written, and the codes of undefined values that were copied there."""

    def __init__(self, space: Space, size: int, granule: int, written: bool = False):
        self.space, self.shift = space, granule.bit_length() - 1
        self.written = np.full(max(size >> self.shift, 1), written)
        self.codes: np.ndarray | None = None    # made when the first undefined value comes

    def read(self, reach: Reach, number: int) -> list:
        """One code (or several, one for each thread) for each element that is read; `number` is that of its origin."""
        places = self._places(reach)
        written = [self.written[place] for place in places]
        if self.codes is None and all(w.all() for w in written):
            return [CLEAN] * reach.access.width
        found = [np.where(w, CLEAN if self.codes is None else self.codes[place], number << PLACE_BITS | place)
                 for place, w in zip(places, written)]
        parts = len(found) // reach.access.width
        return [clean(np.maximum.reduce(found[k * parts:(k + 1) * parts])) for k in range(reach.access.width)]

    def write(self, reach: Reach, codes: list) -> None:
        """Elements are written, with these codes."""
        places = self._places(reach)
        for k, place in enumerate(places):
            self.written[place] = True
            self._set_code(place, codes[k * len(codes) // len(places)])

    def written_at(self, positions: np.ndarray, size: int) -> None:
        """`size` bytes are written at each of these positions."""
        for k in range(size >> self.shift):
            self.written[(positions >> self.shift) + k] = True
            self._set_code((positions >> self.shift) + k, CLEAN)

    def _set_code(self, places, code) -> None:
        if code is not CLEAN and self.codes is None:
            self.codes = np.zeros(len(self.written), np.int64)
        if self.codes is not None:
            self.codes[places] = code

    def _places(self, reach: Reach) -> list[np.ndarray]:
        first = reach.foot.index(reach.group, reach.space, self.shift) + (reach.start >> self.shift)
        return [first + k if k else first for k in range(reach.access.bytes >> self.shift)]


class Undefined:
    """The undefined values of one launch. `begin` is called for every batch of blocks."""

    def __init__(self, program, findings: Findings):
        self.program, self.findings = program, findings
        self.origins: list[Origin | None] = [None]
        self.numbers: dict[Origin, int] = {}
        self.of_access: dict[tuple[int, str], int] = {}
        self.reported: set = set()
        self.granule = min([4, *(a.element_bytes for a in program.accesses)])

    def begin(self, batch) -> None:
        """Other blocks run from now on; no memory of theirs was written yet."""
        self.batch = batch
        spaces = {name: batch.spaces[name] for name in ("shared", "local")}
        self.shadows = {name: Shadow(space, len(space.bytes), self.granule) for name, space in spaces.items()}
        self.of_variables: dict[int, Shadow] = {}    # __device__ variables that undefined values were copied to
        batch.whole.update({MARK + name: self.fresh(name) for name in self.program.tracking.at_start})

    # ---- codes

    def fresh(self, register: str) -> np.int64:
        """The code of a register that was never written."""
        return np.int64(self.number(Origin(register=register)) << PLACE_BITS)

    def number(self, origin: Origin) -> int:
        if origin not in self.numbers:
            self.numbers[origin] = len(self.origins)
            self.origins.append(origin)
        return self.numbers[origin]

    def used(self, codes, line: int | None):
        """The codes after something was computed with the values in `line`."""
        numbers = codes >> PLACE_BITS
        for number in np.unique(numbers):
            origin = self.origins[number]
            if origin is not None and origin.line is None:
                new = self.number(replace(origin, line=line))
                codes = np.where(numbers == number, codes + ((new - number) << PLACE_BITS), codes)
        return codes

    # ---- memory

    def load(self, reach: Reach) -> None:
        """A group has read: its registers take over what is known of the places."""
        names = self.program.tracking.data.get(reach.access.number, ())
        if any(names):
            for name, code in zip(names, self._read(reach)):
                if name:
                    self.batch.registers[name] = code

    def store(self, reach: Reach) -> None:
        """A group writes."""
        codes = [self.batch.registers[name] if name else CLEAN
                 for name in self.program.tracking.data.get(reach.access.number, ())]
        self._write(reach, codes)

    def atomic(self, reach: Reach) -> None:
        """A group makes an atomic update, which computes with the old value and the operands."""
        result, *operands = self.program.tracking.data[reach.access.number]
        registers = self.batch.registers
        code = combined([*self._read(reach), *(registers[name] for name in operands if name)])
        code = code if code is CLEAN else self.used(code, reach.access.line)
        self._write(reach, [code])
        if result:
            registers[result] = code

    def copied(self, positions: np.ndarray, size: int) -> None:
        """An asynchronous copy arrives in shared memory."""
        self.shadows["shared"].written_at(positions, size)

    def forget(self, region: Region) -> None:
        """A local array begins to exist, for the group: it holds nothing yet."""
        shadow, space = self.shadows["local"], self.batch.spaces["local"]
        rows = shadow.written[:space.owners * space.stride >> shadow.shift].reshape(space.owners, -1)
        rows[self.batch.group.members, region.at >> shadow.shift:region.at + region.size >> shadow.shift] = False

    def _read(self, reach: Reach) -> list:
        shadow = self._shadow(reach)
        if shadow is None:
            return [CLEAN] * reach.access.width
        key = reach.access.number, reach.space.name
        if key not in self.of_access:
            self.of_access[key] = self.number(Origin(access=reach.access, space=reach.space.name))
        return shadow.read(reach, self.of_access[key])

    def _write(self, reach: Reach, codes: list) -> None:
        dirty = [code for code in codes if code is not CLEAN]
        shadow = self._shadow(reach)
        if shadow is None and dirty:
            if reach.region.shape:    # an array of the caller's
                self._stored(reach, combined(dirty))
                return
            shadow = Shadow(reach.space, reach.region.size, self.granule, written=True)
            self.of_variables[reach.region.first] = shadow
        if shadow is not None:
            shadow.write(reach, codes)

    def _shadow(self, reach: Reach) -> Shadow | None:
        return self.shadows.get(reach.space.name) or self.of_variables.get(reach.region.first)

    # ---- findings

    def _stored(self, reach: Reach, codes) -> None:
        positions = reach.positions()
        self._report(codes, reach.access.line,
                     lambda i: f"{{}}stores the result in {element_of(reach.region, int(positions[i]))}")

    def decides(self, codes, line: int | None) -> None:
        """A branch depends on undefined values. The run ends here: any way could be the wrong one."""
        if found := self._report(codes, line, lambda i: "{}decides by it what to do next"):
            raise Stop(found)

    def is_address(self, codes, line: int | None) -> None:
        """An address is undefined."""
        if found := self._report(codes, line, lambda i: "{}uses it as an address"):
            raise Stop(found)

    def _report(self, codes, line: int | None, becomes) -> object:
        """Report each origin once; the last finding, or None if there is nothing undefined."""
        group, found = self.batch.group, None
        codes = np.broadcast_to(codes, (group.n,))
        for number in np.unique(codes[codes != 0] >> PLACE_BITS):
            i = int((codes >> PLACE_BITS == number).argmax())
            found = self._finding(self.origins[number], int(codes[i]) & (1 << PLACE_BITS) - 1, i, line, becomes(i))
        return found

    def _finding(self, origin: Origin, place: int, member: int, line: int | None, becomes: str):
        who = self.batch.threads.who(self.batch.group.thread(member))
        if origin.space == "shared":
            return self._unwritten_shared(origin, place, who, member)
        what, name, declared = self._name(origin, place)
        used = origin.line or line
        then = becomes.format(f"line {line} " if line != used else "")
        declared_at = f"it was declared in line {declared}, and " if declared else ""
        found = finding("uninitialized", used, f"{who} uses {what}, which has no value yet: {declared_at}nothing that "
                        f"this thread did before has set it; {'then ' if line != used else 'and it '}{then}", declared)
        if name not in self.reported:
            self.reported.add(name)
            self.findings.add(found)
        return found

    def _unwritten_shared(self, origin: Origin, place: int, who: str, member: int):
        space, line = self.batch.spaces["shared"], origin.access.line
        byte = (place << self.shadows["shared"].shift) % space.stride
        region = next(r for r in space.regions.values() if r.at <= byte < r.at + max(r.size, 1))
        word = f"word {(byte - region.at) // 4}" if self.granule == 4 else f"byte {byte - region.at}"
        found = unwritten_shared(line, who, f"{word} of {cxx_name(region.name)}", self.batch.departures,
                                 int(self.batch.threads.block[self.batch.group.thread(member)]))
        if not {("shared", line), ("shared", region.name)} & self.reported:
            self.findings.add(found)
        self.reported |= {("shared", line), ("shared", region.name)}
        return found

    def _name(self, origin: Origin, place: int) -> tuple[str, object, int | None]:
        """(its description, what is to be reported once, the line of its declaration)"""
        if origin.register is not None:
            variable = self.program.tracking.variable(origin.register)
            if variable is not None:
                return variable.name, variable, variable.line
            return "a value", origin.register, None
        if origin.space == "global":
            return "a value", origin.access.line, None
        space = self.batch.spaces["local"]
        byte = (place << self.shadows["local"].shift) % space.stride
        region = next(r for r in space.regions.values() if r.at <= byte < r.at + max(r.size, 1))
        array = self.program.tracking.info.array_at(region.name, byte - region.at)
        if array is None:
            return "a value in local memory", origin.access.line, None
        inside = byte - region.at - array.offset
        word = f"word {inside // 4} of " if array.size > 4 else ""
        return f"{word}{array.name}", array, array.line


def combined(codes: list):
    """The code of what is computed from values with these codes."""
    found = CLEAN
    for code in codes:
        if code is not CLEAN:
            found = code if found is CLEAN else np.maximum(found, code)
    return found


def clean(codes):
    """CLEAN itself where no code is anything else."""
    return codes if codes.any() else CLEAN
