"""A kernel's source to read, and two sources compared line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape

from gemm_lab.arguments import checked_kernel
from gemm_lab.views import LEFT, View, code_cell, element, table

CONTEXT = 2         # unchanged lines shown around a change


def show_source(kernel, lines: tuple[int, int] | None = None) -> Source:
    """The source of a kernel with line numbers. `lines` = (first, last) shows a part."""
    checked_kernel(kernel)
    first, last = lines or (1, len(kernel.source.splitlines()))
    if not 1 <= first <= last:
        raise ValueError(f"lines is {lines!r}; it must be (first, last), counted from 1")
    numbered = list(enumerate(kernel.source.splitlines(), 1))[first - 1 : last]
    return Source(f"{kernel.label}: {kernel.entry}, {_geometry(kernel)}.", tuple(numbered))


def _geometry(kernel) -> str:
    x, y, z = kernel.block
    return f"{' x '.join(map(str, (x, y) if z == 1 else (x, y, z)))} threads in a block"


@dataclass(frozen=True, repr=False)
class Source(View):
    """Numbered lines of a source, and a sentence that says what they are."""

    caption: str
    lines: tuple[tuple[int, str], ...]

    @property
    def text(self) -> str:
        return "\n".join([*(f"{n:>4}  {line}".rstrip() for n, line in self.lines), "", self.caption])

    def html(self) -> str:
        head = element("tr", element("th", "line", scope="col")
                       + element("th", "source", scope="col", cls="gl-code", style=LEFT))
        rows = [element("tr", element("th", str(n), scope="row", cls="gl-number") + code_cell(line))
                for n, line in self.lines]
        return table(head, rows, self.caption)


# ---- two sources


@dataclass(frozen=True)
class DiffLine:
    """A line of a comparison. sign: "-" only before, "+" only after, " " in both, "@" lines left out here.

    `twin`: the line that took this one's place, where exactly one did.
    """

    sign: str
    before: int | None
    after: int | None
    line: str
    twin: str | None = None


def show_diff(before, after, context: int = CONTEXT) -> Diff:
    """What changed from one kernel's source to another's, with `context` unchanged lines around each change.

    Template arguments and geometry are compared as well: kernels of one file differ in nothing else.
    """
    checked_kernel(before, "before")
    checked_kernel(after, "after")
    lines = tuple(_diff(before.source.splitlines(), after.source.splitlines(), context))
    changed = [f"{name}: {old} → {new}" for name, old, new in (
        ("kernel", before.entry, after.entry), ("geometry", _geometry(before), _geometry(after)),
        ("dynamic shared memory", f"{before.shared_bytes} bytes", f"{after.shared_bytes} bytes")) if old != new]
    return Diff(before.label, after.label, lines, tuple(changed))


def _diff(old: list[str], new: list[str], context: int):
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    if all(tag == "equal" for tag, *_ in opcodes):
        return
    for tag, i1, i2, j1, j2 in opcodes:
        if tag == "equal":
            yield from _context(old, i1, i2, j1, context, first=i1 == 0, last=i2 == len(old))
        else:
            twins = i2 - i1 == j2 - j1
            yield from (DiffLine("-", n + 1, None, old[n], new[j1 + n - i1] if twins else None) for n in range(i1, i2))
            yield from (DiffLine("+", None, n + 1, new[n], old[i1 + n - j1] if twins else None) for n in range(j1, j2))


def _context(old: list[str], start: int, stop: int, other: int, context: int, first: bool, last: bool):
    """The unchanged lines next to a change; those far from any become one line that counts them."""
    head = 0 if first else context
    tail = 0 if last else context
    shift = other - start
    kept = [n for n in range(start, stop) if n < start + head or n >= stop - tail]
    hidden = stop - start - len(kept)
    for n in kept:
        if hidden and n == stop - tail:
            yield DiffLine("@", None, None, f"{several(hidden, 'line')} unchanged")
            hidden = 0
        yield DiffLine(" ", n + 1, n + 1 + shift, old[n])
    if hidden:
        yield DiffLine("@", None, None, f"{several(hidden, 'line')} unchanged")


@dataclass(frozen=True, repr=False)
class Diff(View):
    """Two sources compared line by line; `settings`: what differs outside the source."""

    before: str
    after: str
    lines: tuple[DiffLine, ...]
    settings: tuple[str, ...] = ()

    @property
    def caption(self) -> str:
        """One sentence: the text alternative."""
        removed, added = (sum(line.sign == sign for line in self.lines) for sign in "-+")
        what = (f"{several(removed, 'line')} removed, {added} added" if self.lines else "the same source")
        return "; ".join([f"From {self.before} to {self.after}: {what}", *self.settings]) + "."

    @property
    def text(self) -> str:
        rows = [f"{line.before or '':>4} {line.after or '':>4} {line.sign} {line.line}".rstrip() for line in self.lines]
        return "\n".join([*rows, *([""] if rows else []), self.caption])

    def html(self) -> str:
        if not self.lines:
            return element("p", escape(self.caption))
        head = element("tr", element("th", "before", scope="col") + element("th", "after", scope="col")
                       + element("th", "", scope="col") + element("th", "source", scope="col", cls="gl-code",
                                                                  style=LEFT))
        return table(head, [_diff_row(line) for line in self.lines], self.caption)


def several(n: int, thing: str) -> str:
    """A number and what is counted: "1 line", "2 lines"."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def _diff_row(line: DiffLine) -> str:
    numbers = "".join(element("td", str(n or ""), cls="gl-number") for n in (line.before, line.after))
    if line.sign == "@":
        return element("tr", numbers + element("td", "⋮") + code_cell(line.line, element("em", escape(line.line))),
                       cls="gl-quiet")
    tag, cls = {"-": ("del", "gl-removed"), "+": ("ins", "gl-added"), " ": (None, None)}[line.sign]
    inner = None if tag is None else element(tag, _marked(line.line, line.twin))
    return element("tr", numbers + element("td", line.sign.replace("-", "−")) + code_cell(line.line, inner), cls=cls)


def _marked(line: str, twin: str | None) -> str:
    """A line as HTML; the words that its twin does not have are marked."""
    if twin is None:
        return escape(line)
    mine, other = (re.findall(r"\w+|\s+|.", text) for text in (line, twin))
    pieces = []
    for tag, i1, i2, _, _ in SequenceMatcher(None, mine, other, autojunk=False).get_opcodes():
        piece = escape("".join(mine[i1:i2]))
        pieces.append(piece if tag == "equal" or not piece else element("mark", piece))
    return "".join(pieces)
