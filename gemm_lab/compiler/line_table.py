"""The line table of a cubin: which source line each machine instruction came from.

It is a *line program* as DWARF 2 describes it (section 6.2), a small language whose instructions move an address and a
line forward and now and then emit a row. NVIDIA adds an extended operation, 0x90, for code that was inlined: it names
the row of the call, counted from 1 in the same sequence, and 0 where nothing was inlined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO

EXTENDED, COPY, ADVANCE_ADDRESS, ADVANCE_LINE, SET_FILE = range(5)    # standard operations
ADVANCE_FIXED = 9
END, SET_ADDRESS, INLINED = 1, 2, 0x90                                # extended ones


@dataclass(frozen=True)
class Row:
    """From `address` on, instructions come from this line of this file; `caller` is the row of the call, or 0."""

    address: int = 0
    file: str = ""
    line: int = 1
    caller: int = 0


def lines_of(rows: list[Row], file: str) -> list[tuple[int, int | None]]:
    """(first address, line in `file`) in order: the innermost call that stands in that file; None where none does."""
    innermost = {row.address: row for row in rows}    # at one address the outermost call comes first
    found = []
    for address, row in sorted(innermost.items()):
        while row.file != file and row.caller:
            row = rows[row.caller - 1]
        found.append((address, row.line if row.file == file else None))
    return found


def sequences(section: bytes) -> dict[int, list[Row]]:
    """Where a sequence sets its first address (an offset in the section, which the linker relocates) -> its rows."""
    program, found = Program(section), {}
    while program.at < len(section):
        start, rows = program.sequence()
        found[start] = rows
    return found


class Program:
    """A line program, read from front to back."""

    def __init__(self, section: bytes):
        self.stream = BytesIO(section)
        self.take(4 + 2)    # length of all, version
        first = int.from_bytes(self.take(4), "little") + self.at
        self.take(2)        # shortest instruction, default of is_stmt: of no use here
        self.line_base = int.from_bytes(self.take(1), "little", signed=True)
        self.line_range, self.first_special = self.take(2)
        self.operands = (0, *self.take(self.first_special - 1))
        while self.text():          # directories
            pass
        self.files = []
        while name := self.text():
            self.files.append(name)
            self.number(), self.number(), self.number()    # folder, date, size
        self.stream.seek(first)

    # ---- what a program consists of

    @property
    def at(self) -> int:
        return self.stream.tell()

    def take(self, count: int) -> bytes:
        return self.stream.read(count)

    def text(self) -> str:
        return b"".join(iter(lambda: self.take(1).rstrip(b"\0"), b"")).decode()

    def number(self) -> int:
        """Unsigned LEB128: seven bits a byte, lowest first; the top bit says that more follow."""
        value, shift, more = 0, 0, True
        while more:
            byte, = self.take(1)
            value, shift, more = value | (byte & 127) << shift, shift + 7, byte >= 128
        self.bits = shift
        return value

    def signed(self) -> int:
        """Signed LEB128: the highest of all the bits is the sign."""
        value = self.number()
        return value - (value >> self.bits - 1 << self.bits)

    # ---- execution

    def sequence(self) -> tuple[int, list[Row]]:
        """Execute up to the end of one kernel's sequence."""
        start, rows, row = self.at, [], Row(file=self.files[0])
        while True:
            operation, = self.take(1)
            if operation == EXTENDED:
                size = self.number()
                kind, at, body = self.take(1)[0], self.at, Program.__new__(Program)
                body.stream = BytesIO(self.take(size - 1))
                if kind == END:
                    return start, rows
                if kind == SET_ADDRESS:
                    start, row = at, replace(row, address=int.from_bytes(body.take(8), "little"))
                elif kind == INLINED:
                    row = replace(row, caller=body.number())
            elif operation >= self.first_special or operation == COPY:
                row = self.special(row, operation) if operation != COPY else row
                rows.append(row)
            else:
                row = self.moved(row, operation)

    def special(self, row: Row, operation: int) -> Row:
        """One byte that moves both address and line."""
        address, line = divmod(operation - self.first_special, self.line_range)
        return replace(row, address=row.address + address, line=row.line + self.line_base + line)

    def moved(self, row: Row, operation: int) -> Row:
        if operation == ADVANCE_ADDRESS:
            return replace(row, address=row.address + self.number())
        if operation == ADVANCE_LINE:
            return replace(row, line=row.line + self.signed())
        if operation == SET_FILE:
            return replace(row, file=self.files[self.number() - 1])
        if operation == ADVANCE_FIXED:
            return replace(row, address=row.address + int.from_bytes(self.take(2), "little"))
        for _ in range(self.operands[operation]):
            self.number()
        return row
