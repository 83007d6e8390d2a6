"""The line table of a cubin: which source line each machine instruction came from.

It is a *line program* as DWARF 2 describes it (section 6.2), a small language whose instructions move an address and a
line forward and now and then emit a row. NVIDIA adds an extended operation, 0x90, for code that was inlined: it names
the row of the call, counted from 1 in the same sequence, and 0 where nothing was inlined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gemm_lab.compiler.cursor import Cursor

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
    while program.cursor.position < len(section):
        start, rows = program.sequence()
        found[start] = rows
    return found


class Program:
    """A line program, read from front to back."""

    def __init__(self, section: bytes):
        self.cursor = cursor = Cursor(section)
        cursor.take(4 + 2)    # length of all, version
        first = cursor.number(4) + cursor.position
        cursor.take(2)        # shortest instruction, default of is_stmt: of no use here
        self.line_base = cursor.number(1, signed=True)
        self.line_range, self.first_special = cursor.take(2)
        self.operands = (0, *cursor.take(self.first_special - 1))
        while cursor.string():          # directories
            pass
        self.files = []
        while name := cursor.string():
            self.files.append(name)
            cursor.uleb(), cursor.uleb(), cursor.uleb()    # folder, date, size
        cursor.position = first

    def sequence(self) -> tuple[int, list[Row]]:
        """Execute up to the end of one kernel's sequence."""
        cursor, start, rows, row = self.cursor, self.cursor.position, [], Row(file=self.files[0])
        while True:
            operation = cursor.number(1)
            if operation == EXTENDED:
                end = cursor.uleb() + cursor.position
                kind = cursor.number(1)
                if kind == END:
                    return start, rows
                if kind == SET_ADDRESS:
                    start, row = cursor.position, replace(row, address=cursor.number(8))
                elif kind == INLINED:
                    row = replace(row, caller=cursor.uleb())
                cursor.position = end
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
        """An operation that changes one thing, or nothing that matters here."""
        cursor = self.cursor
        if operation == ADVANCE_ADDRESS:
            return replace(row, address=row.address + cursor.uleb())
        if operation == ADVANCE_LINE:
            return replace(row, line=row.line + cursor.sleb())
        if operation == SET_FILE:
            return replace(row, file=self.files[cursor.uleb() - 1])
        if operation == ADVANCE_FIXED:
            return replace(row, address=row.address + cursor.number(2))
        for _ in range(self.operands[operation]):
            cursor.uleb()
        return row
