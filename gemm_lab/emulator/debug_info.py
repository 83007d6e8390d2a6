"""What unoptimised PTX says about the source's variables: their names, lines, and where they live.

Compiled with -G, PTX carries debug information in DWARF 2 (the DWARF Debugging Information Format, version 2.0.0), as
sections of bytes. Two kinds of variables matter here: arrays, which lie in a function's *depot*, its local memory, and
variables in registers, each of which may live in several, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gemm_lab.compiler.cursor import Cursor

_SECTION = re.compile(r"\.section\s+\.(debug_\w+)\s*\{(.*?)\n\s*\}", re.S)
_BYTES = re.compile(r"^\.b(8|16|32|64)\s+(\S+)", re.M)
_FIXED = {0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x13: 4}    # form -> bytes
_STRING, _BLOCK1, _SDATA, _UDATA = 0x08, 0x0A, 0x0D, 0x0F
_SUBPROGRAM, _LEXICAL_BLOCK, _ARRAY_TYPE, _SUBRANGE_TYPE = 0x2E, 0x0B, 0x01, 0x21
_VARIABLES = 0x05, 0x34                                                     # formal parameter, variable
_POINTERS = 0x0F, 0x10                                                      # pointer, reference
_LOCATION, _NAME, _BYTE_SIZE, _LOW_PC, _HIGH_PC, _UPPER_BOUND, _COUNT, _LINE, _TYPE, _LINKAGE_NAME = (
    0x02, 0x03, 0x0B, 0x11, 0x12, 0x2F, 0x37, 0x3B, 0x49, 0x2007)
_OP_ADDR, _OP_PLUS, _OP_REGX = 0x03, 0x23, 0x90


@dataclass(frozen=True)
class Array:
    """A variable in local memory: `size` bytes of a depot, from `offset` on. It exists from label `begin` to `end`."""
    name: str
    line: int
    depot: str
    offset: int
    size: int
    function: str = ""
    begin: str = ""
    end: str = ""

    def __contains__(self, offset: int) -> bool:
        return self.offset <= offset < self.offset + self.size


@dataclass(frozen=True)
class Variable:
    """A variable that lives in registers. It exists from label `begin` to label `end`."""
    name: str
    line: int
    begin: str = ""
    end: str = ""


@dataclass
class DebugInfo:
    """All of a module. `registers` maps (function, register) to the variable that lives there."""
    arrays: list[Array] = field(default_factory=list)
    registers: dict[tuple[str, str], Variable] = field(default_factory=dict)

    def array_at(self, depot: str, offset: int) -> Array | None:
        """The array in which a byte of a depot lies."""
        return next((a for a in self.arrays if a.depot == depot and offset in a), None)


def read(ptx: str) -> DebugInfo:
    """The debug information of a module; empty where there is none, or none that can be understood."""
    sections = dict(_SECTION.findall(ptx))
    if not {"debug_info", "debug_abbrev"} <= set(sections):
        return DebugInfo()
    try:
        return Dwarf(sections).collect()
    except (KeyError, IndexError, ValueError):    # of a form that NVRTC does not use today
        return DebugInfo()


@dataclass
class Entry:
    """One entry of .debug_info: what kind of thing, and its attributes."""
    at: int
    tag: int
    depth: int
    attributes: dict[int, object]


class Dwarf:
    """The sections of one module. Addresses are symbols in PTX, and stand in the bytes as numbers of `symbols`."""

    def __init__(self, sections: dict[str, str]):
        self.symbols: list[str] = [""]
        self.info, self.abbreviations, self.locations = (
            self.bytes_of(sections.get(name, "")) for name in ("debug_info", "debug_abbrev", "debug_loc"))
        self.entries = list(self.read_entries())
        self.by_position = {entry.at: n for n, entry in enumerate(self.entries)}

    def bytes_of(self, text: str) -> bytes:
        data = bytearray()
        for bits, value in _BYTES.findall(text):
            for part in value.split(","):
                data += (self.value(part) % (1 << int(bits))).to_bytes(int(bits) // 8, "little")
        return bytes(data)

    def value(self, text: str) -> int:
        """A number, an offset in another section, or a symbol."""
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        if text.startswith(".debug_"):
            return int(text.partition("+")[2] or 0)
        self.symbols.append(text)
        return len(self.symbols) - 1

    # ---- entries

    def forms(self) -> dict[int, tuple[int, bool, list[tuple[int, int]]]]:
        """The abbreviations: code -> (tag, whether it has children, [(attribute, form)])."""
        cursor, found = Cursor(self.abbreviations), {}
        while code := cursor.uleb():
            tag, children, pairs = cursor.uleb(), bool(cursor.number(1)), []
            while any(pair := (cursor.uleb(), cursor.uleb())):
                pairs.append(pair)
            found[code] = tag, children, pairs
        return found

    def read_entries(self) -> Iterator[Entry]:
        forms, depth = self.forms(), 0
        cursor = Cursor(self.info, 11)    # behind the head: length, version, offset of abbreviations, size of address
        while cursor.position < len(self.info):
            at, code = cursor.position, cursor.uleb()
            if code == 0:
                depth -= 1
                continue
            tag, children, pairs = forms[code]
            yield Entry(at, tag, depth, {attribute: self.attribute(cursor, form) for attribute, form in pairs})
            depth += children

    @staticmethod
    def attribute(cursor: Cursor, form: int):
        if form in _FIXED:
            return cursor.number(_FIXED[form])
        if form == _STRING:
            return cursor.string()
        if form == _BLOCK1:
            return cursor.take(cursor.number(1))
        if form in (_UDATA, _SDATA):
            return cursor.uleb()
        raise ValueError(f"form {form:#x}")

    # ---- variables

    def collect(self) -> DebugInfo:
        found, around = DebugInfo(), {}    # around: depth -> the entry that encloses what follows
        for entry in self.entries:
            around = {depth: e for depth, e in around.items() if depth < entry.depth} | {entry.depth: entry}
            if entry.tag in _VARIABLES and _LOCATION in entry.attributes:
                self.place(entry, list(around.values()), found)
        return found

    def place(self, entry: Entry, around: list[Entry], found: DebugInfo) -> None:
        """Add one variable to what has been found."""
        location, name = entry.attributes[_LOCATION], entry.attributes.get(_NAME, "?")
        line = entry.attributes.get(_LINE, 0)
        function = next((e.attributes.get(_LINKAGE_NAME, e.attributes.get(_NAME)) for e in around
                         if e.tag == _SUBPROGRAM), "")
        block = next((e for e in reversed(around) if e.tag == _LEXICAL_BLOCK), None)
        begin, end = (self.symbols[block.attributes.get(pc, 0)] if block else "" for pc in (_LOW_PC, _HIGH_PC))
        for expression in [location] if isinstance(location, bytes) else self.location_list(location):
            cursor = Cursor(expression, 1)
            if expression[0] == _OP_REGX:
                register = cursor.uleb()
                key = register.to_bytes(8, "big").lstrip(b"\0").decode("ascii", "replace")
                found.registers.setdefault((function, key), Variable(name, line, begin, end))
            elif expression[0] == _OP_ADDR:
                depot, rest = self.symbols[cursor.number(8)], expression[9:]
                offset = Cursor(rest, 1).uleb() if rest[:1] == bytes([_OP_PLUS]) else 0
                if depot.startswith("__local_depot"):
                    size = self.size_of(entry.attributes[_TYPE])
                    found.arrays.append(Array(name, line, depot, offset, size, function, begin, end))

    def location_list(self, position: int) -> Iterator[bytes]:
        """The places in which a variable lives, one after the other."""
        cursor = Cursor(self.locations, position)
        while any((cursor.number(8), cursor.number(8))):
            yield cursor.take(cursor.number(2))

    def size_of(self, position: int) -> int:
        """The size of a type in bytes."""
        n = self.by_position[position]
        entry = self.entries[n]
        if _BYTE_SIZE in entry.attributes:
            return entry.attributes[_BYTE_SIZE]
        if entry.tag in _POINTERS:
            return 8
        size = self.size_of(entry.attributes[_TYPE])
        if entry.tag == _ARRAY_TYPE:
            for part in self.entries[n + 1:]:
                if part.depth <= entry.depth:
                    break
                if part.tag == _SUBRANGE_TYPE:
                    size *= part.attributes.get(_COUNT, part.attributes.get(_UPPER_BOUND, -1) + 1)
        return size
