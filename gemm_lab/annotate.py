"""A kernel's source, and beside each line what that line did when the kernel ran in the emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from html import escape
from operator import add

import numpy as np

from gemm_lab.arguments import checked_kernel, checked_sizes
from gemm_lab.counts import WARP, Counts
from gemm_lab.run import Run
from gemm_lab.views import LEFT, View, code_cell, element, shorten, table

ELSEWHERE = 0    # the line of what the compiler ascribes to no line of this source
SOURCE_WIDTH = 66
RUN_OPTIONS = ("alpha", "beta", "mode", "schedule", "step_limit")


@dataclass(frozen=True)
class Column:
    """One count by line. `scale`: threads that one unit stands for, so that ratios are words per FMA of a thread, and
    requests, sectors and wavefronts per FMA of a warp."""

    space: str
    name: str
    of: Callable[[Counts], int | None]
    scale: int = WARP


def _both(space: str, what: str) -> Callable[[Counts], int | None]:
    def loads_and_stores(counts: Counts) -> int | None:
        parts = getattr(counts, f"{space}_load_{what}"), getattr(counts, f"{space}_store_{what}")
        return None if None in parts else sum(parts)
    return loads_and_stores


def _words(space: str) -> list[Column]:
    return [Column(space, "words read", lambda c: getattr(c, f"{space}_load_words"), 1),
            Column(space, "words written", lambda c: getattr(c, f"{space}_store_words"), 1)]


def _pipe(space: str, *kinds: str) -> list[Column]:
    return [Column(space, kind, _both(space, kind.replace(" ", "_"))) for kind in kinds]


COLUMNS = (*_words("global"), *_pipe("global", "requests", "sectors", "wavefronts"),
           *_words("shared"), *_pipe("shared", "requests", "wavefronts", "bank conflicts"), *_words("local"),
           Column("fma", "FMAs", lambda c: c.fma, 1))
HEADINGS = {"global": "global memory", "shared": "shared memory", "local": "local memory", "fma": "arithmetic"}


def annotate(kernel, M: int, N: int, K: int, per_fma: bool = False, lines: tuple[int, int] | None = None,
             **run_options) -> Annotation:
    """Run a kernel on random M x K and K x N matrices in the emulator and show its source with the counts of each line.

    per_fma      show words per FMA of a thread, and requests, sectors and wavefronts per FMA of a warp, not totals
    lines        (first, last): show these lines only; the totals still count all
    run_options  go to `kernel.run`: alpha, beta, mode, schedule, step_limit

    Counts do not depend on the values of the matrices.

    Raises ValueError for bad arguments, and what `kernel.run` raises.
    """
    checked_kernel(kernel)
    M, N, K = checked_sizes(M, N, K)
    _check_options(run_options)
    rng = np.random.default_rng(0)
    A, B, C = (rng.standard_normal(shape, dtype=np.float32) for shape in ((M, K), (K, N), (M, N)))
    if run_options.get("beta", 0.0) == 0.0:
        C = None
    run = kernel.run(A, B, C, backend="emulator", **run_options)
    return Annotation(kernel.label, kernel.source, (M, N, K), run, per_fma, lines)


def _check_options(options: Mapping) -> None:
    if "backend" in options:
        raise ValueError(f"backend is {options['backend']!r}; annotate needs counts by line, which the emulator alone "
                         "has: leave backend out")
    if unknown := [name for name in options if name not in RUN_OPTIONS]:
        raise ValueError(f"annotate has no option {unknown[0]!r}; it passes on {', '.join(RUN_OPTIONS)}")


@dataclass(frozen=True, repr=False)
class Annotation(View):
    """A source with the counts of each line. `by_line` holds the numbers, `caption` says the most important."""

    label: str
    source: str = field(repr=False)
    size: tuple[int, int, int]
    run: Run
    per_fma: bool = False
    lines: tuple[int, int] | None = None

    def __post_init__(self):
        if self.run.counts is None:
            raise ValueError(f"the run of {self.label} has no counts; "
                             "run it in the emulator with mode 'count' or 'check'")
        if self.per_fma and not self.run.counts.fma:
            raise ValueError(f"{self.label} executed no FMA, so there is nothing to relate its counts to; "
                             "leave per_fma out")
        first, last = self.lines or (1, len(self.source.splitlines()))
        if not 1 <= first <= last:
            raise ValueError(f"lines is {self.lines!r}; it must be (first, last), counted from 1")
        object.__setattr__(self, "lines", (first, last))

    @property
    def by_line(self) -> Mapping[int, Counts]:
        """What each line did; line 0 stands for all that belongs to no line of this source."""
        known = range(1, len(self.source.splitlines()) + 1)
        inside = {n: c for n, c in self.run.by_line.items() if n in known}
        rest = reduce(add, (c for n, c in self.run.by_line.items() if n not in known), Counts.zero())
        return inside | ({ELSEWHERE: rest} if rest != Counts.zero() else {})

    @property
    def columns(self) -> list[Column]:
        """The columns in which something happened, arithmetic always."""
        return [c for c in COLUMNS if c.of(self.run.counts) or c.space == "fma"]

    @property
    def rows(self) -> list[tuple[int, str, Counts | None]]:
        """(line, source, counts), counts None for a line that did nothing."""
        (first, last), by_line = self.lines, self.by_line
        numbered = list(enumerate(self.source.splitlines(), 1))[first - 1 : last]
        elsewhere = [(ELSEWHERE, "(not in this source)", by_line[ELSEWHERE])] if ELSEWHERE in by_line else []
        return [(n, line, by_line.get(n)) for n, line in numbered] + elsewhere

    @property
    def caption(self) -> str:
        """One sentence: the text alternative."""
        M, N, K = self.size
        total = self.run.counts
        parts = [f"{self.label} at M = {M}, N = {N}, K = {K}: {total.fma or 0:,} FMAs"]
        parts += [text for space in ("global", "shared") if (text := self._busiest(space))]
        parts += ["the table gives words per FMA of a thread; requests, sectors and wavefronts per FMA of a warp"
                  ] if self.per_fma else []
        parts += [self._of_the_ptx()] if self.run.ptx_lines else []
        parts += [] if self.run.completed else ["the run was stopped, so the counts are partial"]
        return "; ".join(parts) + "."

    def _of_the_ptx(self) -> str:
        lines = self.run.ptx_lines
        where = f"in line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
        return (f"{where} requests and wavefronts of shared memory are those of the PTX, because it could not be told "
                "which accesses the machine code makes of them")

    def _busiest(self, space: str) -> str:
        """Which lines read most from a memory, in words."""
        read = {n: words for n, c in self.by_line.items() if (words := getattr(c, f"{space}_load_words"))}
        total = getattr(self.run.counts, f"{space}_load_words")
        if not read:
            return ""
        most = max(read.values())
        where = [str(n) if n else "(elsewhere)" for n, words in read.items() if words == most]
        who = f"line {where[0]} reads" if len(where) == 1 else f"lines {', '.join(where)} each read"
        amount = f"all {total:,}" if most == total else f"{most:,} of the {total:,}"
        return f"{who} {amount} words that are read from {space} memory"

    def cell(self, column: Column, counts: Counts | None) -> str:
        """A count as text, empty for nothing."""
        value = None if counts is None else column.of(counts)
        if not value:
            return ""
        return f"{value * column.scale / self.run.counts.fma:.3g}" if self.per_fma else f"{value:,}"

    # ---- text

    @property
    def text(self) -> str:
        """The table as plain text, long source lines cut."""
        width = min(SOURCE_WIDTH, max((len(line) for _, line, _ in self.rows), default=0))
        cells = [[self.cell(c, counts) for c in self.columns] for _, _, counts in self.rows]
        total = [self.cell(c, self.run.counts) for c in self.columns]
        heads = [("" if c.space == "fma" else c.space, *f" {c.name}".split(" ")[-2:]) for c in self.columns]
        widths = [max(map(len, column)) for column in zip(*cells, total, *zip(*heads))]
        def row(number, source, numbers):
            return f"{number:>4}  {source:<{width}}  " + "  ".join(f"{x:>{w}}" for x, w in zip(numbers, widths))
        rows = [row(n or "", shorten(line, width), numbers) for (n, line, _), numbers in zip(self.rows, cells)]
        top = [row("", "", h) for h in zip(*heads)]
        lines = [self.caption, "", *top, *rows, row("", "total", total), *map(str, self.run.findings)]
        return "\n".join(line.rstrip() for line in lines)

    # ---- HTML

    def html(self) -> str:
        """The table: source left, counts right, a bar in each cell for its share of the column."""
        body = [self._row(*row) for row in self.rows]
        alerts = [element("div", escape(str(finding)), cls="gl-alert") for finding in self.run.findings]
        return table(self._head(), body, self.caption, self._foot()) + "".join(alerts)

    def _head(self) -> str:
        spaces = list(dict.fromkeys(c.space for c in self.columns))
        per = ", per FMA" if self.per_fma else ""
        groups = [element("th", HEADINGS[s] + per, scope="colgroup", cls=f"gl-{s} gl-first",
                          colspan=sum(c.space == s for c in self.columns)) for s in spaces]
        names = [element("th", c.name.replace(" ", "<br>"), scope="col", cls=self._cls(c)) for c in self.columns]
        line = element("th", "line", scope="col", rowspan=2)
        source = element("th", "source", scope="col", rowspan=2, cls="gl-code", style=LEFT)
        return element("tr", line + source + "".join(groups)) + element("tr", "".join(names))

    def _cls(self, column: Column) -> str:
        first = next(c for c in self.columns if c.space == column.space)
        return f"gl-{column.space}" + (" gl-first" if column is first else "")

    def _row(self, number: int, line: str, counts: Counts | None) -> str:
        quiet = None if counts is not None and any(c.of(counts) for c in self.columns) else "gl-quiet"
        head = element("th", str(number or ""), scope="row", cls="gl-number")
        cells = [element("td", self.cell(c, counts), cls=self._cls(c), style=self._bar(c, counts))
                 for c in self.columns]
        return element("tr", head + code_cell(line) + "".join(cells), cls=quiet)

    def _bar(self, column: Column, counts: Counts | None) -> str | None:
        """The share of the column's total that this line has, as a bar behind the number."""
        value = None if counts is None else column.of(counts)
        if not value:
            return None
        share = 100 * value / column.of(self.run.counts)
        ink = f"color-mix(in srgb, var(--gl-ink) 38%, transparent) {share:.0f}%"
        return f"background: linear-gradient(to left, {ink}, transparent {share:.0f}%)"

    def _foot(self) -> str:
        cells = [element("td", self.cell(c, self.run.counts), cls=self._cls(c)) for c in self.columns]
        return element("tr", element("th", "total", scope="row", colspan=2, style=LEFT) + "".join(cells))
