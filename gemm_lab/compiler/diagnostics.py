"""What the compiler says, as data: the log of NVRTC -> line, column, message.

A diagnostic in the log is a head, the source line and a caret, sometimes with more words before or after these:

    kernel.cu(5): error: identifier "x" is undefined
          C[threadIdx.x] = x + 1;
                           ^
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

FILE = "kernel.cu"              # the name under which the compiler sees the student's source
ENTRY_FILE = "__nv_name_map"    # the name under which it speaks of the entry that was asked for
_SHOWN = 10                     # a message lists this many diagnostics at most
_WIDTH = 160                    # and this many characters of a source line,
_WORDS = 500                    # or of a line of the compiler's words, which are long only where they quote the source

_HEAD = re.compile(r"(?:(?P<file>[^\s(][^(\n]*)\((?P<line>\d+)\)|(?P<end>At end of source)): "
                   r"(?P<kind>(?:catastrophic )?error|warning|note)(?: #[\d-]+D?)?: (?P<message>.*)")
_PTXAS = re.compile(r"ptxas (?:application ptx input, line (?P<line>\d+); )?"
                    r"(?P<kind>error|warning|fatal) *: (?P<message>.*)")


@dataclass(frozen=True)
class Diagnostic:
    """One complaint of the compiler. `line` and `column` count from 1; None where the compiler names none."""

    line: int | None
    column: int | None
    message: str
    severity: Literal["error", "warning"]

    def show(self, source: str) -> str:
        """Place and words, then the source line with a caret under the column."""
        message = "\n".join(_cut(line) for line in self.message.split("\n"))
        if self.line is None:
            return f"{self.severity}: {message}"
        text, before = _window(line_of(source, self.line), (self.column or 1) - 1)
        column = f", column {self.column}" if self.column else ""
        shown = [f"line {self.line}{column}: {self.severity}: {message}", f"{self.line:5} | {text}"]
        if self.column:
            shown.append("      | " + re.sub(r"[^\t]", " ", text[:before]) + "^")
        return "\n".join(shown)


class CompileError(Exception):
    """The source does not compile. `diagnostics` holds errors and warnings, `log` the compiler's own text.

    The message shows the errors alone: the warnings beside them are mostly their consequences.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], log: str = "", source: str = ""):
        self.diagnostics, self.log, self.source = tuple(diagnostics), log, source
        super().__init__(self.diagnostics, log, source)

    def __str__(self) -> str:
        errors = [d for d in self.diagnostics if d.severity == "error"]
        head = f"the kernel does not compile: {len(errors)} error{'s' * (len(errors) != 1)}\n\n" if errors else ""
        return head + (show(errors or self.diagnostics, self.source) or self.log.strip())


def show(diagnostics: Iterable[Diagnostic], source: str) -> str:
    """Diagnostics for a reader, each with its source line; the first few where there are many."""
    shown = [d.show(source) for d in diagnostics]
    if len(shown) > _SHOWN:
        shown[_SHOWN:] = [f"... and {len(shown) - _SHOWN} more"]
    return "\n\n".join(shown)


def line_of(source: str, line: int) -> str:
    """Line number `line` of the source, "" beyond its end. (`str.splitlines` would also split at form feeds.)"""
    lines = source.split("\n")
    return lines[line - 1].rstrip() if 1 <= line <= len(lines) else ""


def _cut(text: str) -> str:
    """`text`, its middle left out if it is long: the compiler's words stand before a name and after it."""
    half = _WORDS // 2
    return text if len(text) <= _WORDS else f"{text[:half]} ... {text[-half:]}"


def _window(text: str, at: int) -> tuple[str, int]:
    """The part of a long line around the character `at`, and the place of that character in it."""
    start = max(0, min(at - _WIDTH // 2, len(text) - _WIDTH))
    shown, left = text[start:start + _WIDTH], "..." if start else ""
    right = "..." if start + _WIDTH < len(text) else ""
    return f"{left}{shown}{right}", at - start + len(left)


def parse(log: str, source: str, ptx: str = "") -> tuple[Diagnostic, ...]:
    """The diagnostics about `source` in a log of NVRTC, errors first; those in a header stand at the line that used it.

    `ptx` lets a complaint of the assembler be traced to the source line whose code it did not accept.
    """
    found: list[Diagnostic] = []
    for block in _blocks(log):
        head = _HEAD.match(block[0])
        diagnostic = _read(head, block[1:], source)
        if head["kind"] == "note" and found and head["file"] == FILE:
            note = f"\n      note: {diagnostic.message} (line {diagnostic.line})"
            found[-1] = replace(found[-1], message=found[-1].message + note)
        elif head["kind"] != "note" and head["file"] != ENTRY_FILE:
            found.append(diagnostic)
    found += _assembler(log, ptx)
    return tuple(sorted(found, key=lambda d: (d.severity, d.line is None, d.line, d.column or 0)))


def about_entry(log: str) -> str | None:
    """What the compiler says of the entry that was asked for, or None if it found that entry."""
    match = re.search(rf"^{ENTRY_FILE}\(\d+\): error: (.*)", log, re.MULTILINE)
    return match and match[1]


def _blocks(log: str) -> list[list[str]]:
    """The lines of each diagnostic of the front end, its head first."""
    blocks: list[list[str]] = []
    inside = False
    for line in log.split("\n"):
        if _HEAD.match(line):
            blocks.append([])
            inside = True
        inside = inside and bool(line.strip())
        if inside:
            blocks[-1].append(line)
    return blocks


def _read(head: re.Match, body: list[str], source: str) -> Diagnostic:
    caret = next((i for i, text in enumerate(body) if i and text.strip() == "^"), None)
    words = body if caret is None else body[:caret - 1] + body[caret + 1:]
    line, column, message = None, None, "\n".join([head["message"].strip(), *(text.rstrip() for text in words)])
    user = re.search(rf"at line (\d+) of {re.escape(FILE)}", message)
    if head["end"]:
        line = source.rstrip().count("\n") + 1
    elif head["file"] == FILE:
        line = int(head["line"])
        column = None if caret is None else _column(body[caret - 1], body[caret], line_of(source, line))
    elif user:
        line = int(user[1])
    elif is_absolute(head["file"]):
        line = _line_with(source, head["file"])
    else:
        message += f"\n      in gemm_lab's header {head['file']}, line {head['line']}"
    return Diagnostic(line, column, message, "warning" if head["kind"] == "warning" else "error")


def is_absolute(name: str) -> bool:
    """Whether NVRTC takes the name in `#include` for the place of a file on this machine."""
    return re.match(r"[/\\]|[A-Za-z]:", name) is not None


def _line_with(source: str, name: str) -> int | None:
    return next((n for n, line in enumerate(source.split("\n"), 1) if name in line), None)


def _column(echo: str, caret: str, text: str) -> int | None:
    """The column of the caret in the source line `text`: the log indents by two and counts bytes, not characters.

    None if the compiler saw another text there, a line that host_code.py changed, and in a line so long that the log's
    16-bit column may have overflowed.
    """
    echo = echo[2:]
    if len(echo.encode()) >= 2**16:
        return None
    before = len(echo.encode()[:caret.index("^") - 2].decode(errors="ignore"))
    return before + 1 if echo[before:before + 8].rstrip() == text[before:before + 8].rstrip() else None


def _assembler(log: str, ptx: str) -> list[Diagnostic]:
    found = []
    for match in _PTXAS.finditer(log):
        line = _line_of_ptx(ptx, int(match["line"])) if match["line"] else None
        severity = "warning" if match["kind"] == "warning" else "error"
        found.append(Diagnostic(line, None, match["message"].strip(), severity))
    return [d for d in found if not d.message.startswith("Ptx assembly aborted")] or found


def _line_of_ptx(ptx: str, number: int) -> int | None:
    """The source line that line `number` of the PTX came from: that of the nearest `.loc` of the source above it."""
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', ptx, re.MULTILINE))
    above = re.findall(r"(?:\.loc|inlined_at)\s+(\d+)\s+(\d+)", "\n".join(ptx.split("\n")[:number]))
    lines = [int(line) for file, line in above if files.get(file) == FILE]
    return lines[-1] if lines else None
