"""The machine code that each line of a kernel's source became."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape

from gemm_lab.arguments import checked_kernel
from gemm_lab.compiler.sass import opcode
from gemm_lab.source_views import several
from gemm_lab.views import LEFT, View, code_cell, element, shorten, table

SOURCE_WIDTH = 60    # of a source line in the text version


# Class, name and pattern of each column; an operation belongs to the first that it matches.
SASS_COLUMNS = (("global", "global memory", r"(LDG|STG|LD|ST|ATOMG|RED|LDGSTS)(\.|$)"),
                ("shared", "shared memory", r"(LDS|STS|ATOMS)(\.|$)"), ("local", "local memory", r"(LDL|STL)(\.|$)"),
                ("fma", "arithmetic", r"FFMA"), ("", "other", r""))


def show_sass(kernel, line: int | None = None, grep: str | None = None, arch: str = "sm_90") -> Sass:
    """The machine code of a kernel by source line, as counts of instructions such as "8 × LDS.128".

    These are instructions in the program, each counted once, however often it is executed.

    line   show this source line alone, its instructions in full
    grep   show instructions that match this regular expression, in full
    arch   "sm_90" is the H200

    Needs no GPU. Raises CompileError, NoCompiler, ValueError for a line without machine code.
    """
    from gemm_lab.compiler import sass_by_line
    compiled = checked_kernel(kernel).compile(arch)
    by_line = {n: tuple(code) for n, code in sorted(sass_by_line(compiled).items())}
    if line is not None and line not in by_line:
        raise ValueError(f"line {line} of {kernel.label} became no machine code; lines that did: "
                         f"{', '.join(map(str, by_line))}")
    wanted = {n: tuple(op for op in code if re.search(grep or "", op)) for n, code in by_line.items()
              if line in (None, n)}
    return Sass(kernel.label, arch, tuple(kernel.source.splitlines()), {n: code for n, code in wanted.items() if code},
                full=line is not None or grep is not None)


@dataclass(frozen=True, repr=False)
class Sass(View):
    """Machine instructions by source line. `full`: listed one by one, not only counted."""

    label: str
    arch: str
    source: tuple[str, ...] = field(repr=False)
    by_line: dict[int, tuple[str, ...]] = field(repr=False)
    full: bool = False

    @property
    def totals(self) -> Counter:
        """Operation -> number of such instructions in what is shown."""
        return Counter(opcode(op) for code in self.by_line.values() for op in code)

    @property
    def caption(self) -> str:
        """One sentence: the text alternative."""
        parts = [text for _, name, _ in SASS_COLUMNS[:-1] if (text := self.cell(self.totals, name))]
        return (f"{self.label} compiled for {self.arch}: {several(self.totals.total(), 'machine instruction')}"
                + "".join(f", {part}" for part in parts) + ".")

    @property
    def columns(self) -> list[tuple[str, str]]:
        """(class, name) of the columns in which there is something."""
        return [(cls, name) for cls, name, _ in SASS_COLUMNS if self.cell(self.totals, name)]

    def cell(self, ops: Counter, name: str) -> str:
        """The instructions of one column: "32 × LDS, 8 × LDS.128"; the others are only counted."""
        mine = {op: n for op, n in ops.items() if _column(op) == name}
        if name == "other":
            return str(sum(mine.values()) or "")
        return ", ".join(f"{n} × {op}" for op, n in sorted(mine.items()))

    def source_line(self, number: int) -> str:
        """A line of the source, empty for code of no line here."""
        return self.source[number - 1] if 1 <= number <= len(self.source) else ""

    @property
    def text(self) -> str:
        rows = []
        for n, code in self.by_line.items():
            counts = Counter(map(opcode, code))
            cells = [text + (" other" if name == "other" else "") for _, name in self.columns
                     if (text := self.cell(counts, name))]
            source = shorten(self.source_line(n).strip(), SOURCE_WIDTH)
            rows += [f"{n:>4}  {source:<{SOURCE_WIDTH}}  {', '.join(cells)}"]
            rows += [f"        {op}" for op in code] if self.full else []
        return "\n".join([*rows, "", self.caption])

    def html(self) -> str:
        left = {"cls": "gl-code", "style": LEFT}
        heads = [element("th", "line", scope="col"), element("th", "source", scope="col", **left)]
        heads += [element("th", name, scope="col", cls=f"gl-{cls} gl-text" if cls else "gl-text", style=LEFT)
                  for cls, name in self.columns]
        rows = [self._row(n, code) for n, code in self.by_line.items()]
        return table(element("tr", "".join(heads)), rows, self.caption)

    def _row(self, number: int, code: tuple[str, ...]) -> str:
        counts = Counter(map(opcode, code))
        listing = "\n".join([self.source_line(number), *(f"    {op}" for op in code)]) if self.full else None
        cells = [element("td", escape(self.cell(counts, name)), cls="gl-text gl-first", style=LEFT)
                 for _, name in self.columns]
        return element("tr", element("th", str(number), scope="row", cls="gl-number")
                       + code_cell(self.source_line(number), escape(listing) if listing else None) + "".join(cells))


def _column(op: str) -> str:
    return next(name for _, name, pattern in SASS_COLUMNS if re.match(pattern, op))
