"""What a choice of tile parameters means, in numbers. Arithmetic first; what the compiler must say comes later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from math import prod

from gemm_lab.counts import WARP, WORD_BYTES
from gemm_lab.roofline import gemm_flops
from gemm_lab.views import LEFT, View, element, table

PENDING = "…"
LATER = ("registers per thread", "blocks per SM", "occupancy")


@dataclass(frozen=True)
class Fact:
    """One row: what, how much, and a remark. `space` colours it as in every figure."""

    name: str
    value: str
    remark: str = ""
    space: str = ""


def quick_facts(kernel, M: int, N: int, K: int) -> list[Fact]:
    """What follows from the parameters by arithmetic alone. ValueError for a kernel that cannot run at this size."""
    counts, threads, grid = kernel.counts(M, N, K), prod(kernel.block), kernel.launch_grid(M, N)
    per_output, least = counts.global_load_words / (M * N), (M * K + K * N) / (M * N)
    intensity = gemm_flops(M, N, K) / (WORD_BYTES * (counts.global_load_words + counts.global_store_words))
    shared = WORD_BYTES * kernel.tile_words + kernel.shared_bytes
    return [
        Fact("global words read per output", f"{per_output:,.4g}", f"{per_output / least:,.3g} times the minimum",
             "global"),
        Fact("global words read per FMA", f"{counts.global_loads_per_fma:.4g}", "", "global"),
        Fact("FLOP per byte of global words", f"{intensity:.4g}", "read and written by all threads", "global"),
        Fact("shared words read per FMA", f"{counts.shared_loads_per_fma:.4g}", "", "shared"),
        Fact("shared memory per block", f"{shared:,} bytes", "", "shared"),
        Fact("threads per block", f"{threads:,}", _warps(threads)),
        Fact("blocks in the grid", f"{prod(grid):,}", f"{grid[0]} x {grid[1]}, {_idle(counts.fma, M, N, K)}"),
    ]


def _warps(threads: int) -> str:
    warps, rest = divmod(threads, WARP)
    return f"{warps} warps" if not rest else f"{warps + 1} warps, the last with {rest} of {WARP} threads"


def _idle(fma: int, M: int, N: int, K: int) -> str:
    """FMAs on elements beyond the edges of the matrices."""
    extra = fma / (M * N * K) - 1
    return f"{100 * extra:.3g} % of FMAs wasted at the edges" if extra > 0 else "no FMA wasted"


def later_facts(kernel, gpu) -> list[Fact]:
    """What only the compiler knows: registers, and the occupancy that follows. Never raises: a failure is a row."""
    from gemm_lab.hardware import find_gpu
    from gemm_lab.occupancy import occupancy
    try:
        gpu = find_gpu(gpu)
        occupied, compiled = occupancy(kernel, gpu), kernel.compile(gpu.arch)
    except Exception as error:      # whatever it is: this runs in a thread, where nobody would catch it
        why = (str(error) or type(error).__name__).splitlines()[0]
        return [Fact(name, "not known", why if name == LATER[0] else "") for name in LATER]
    spills = f"{compiled.spill_bytes} bytes spilled" if compiled.spill_bytes else "nothing spilled"
    return [Fact(LATER[0], str(compiled.registers), spills),
            Fact(LATER[1], str(occupied.blocks), f"limited by {' and '.join(occupied.limited_by)}"),
            Fact(LATER[2], f"{100 * occupied.fraction:.0f} %",
                 f"{occupied.warps} of {occupied.max_warps} warps on {gpu.name}")]


@dataclass(frozen=True, repr=False)
class TileTable(View):
    """The facts of one choice.

    problem   why the choice is impossible; the facts are then those of the last possible choice
    note      a sentence below the table
    """

    title: str
    facts: tuple[Fact, ...]
    problem: str = ""
    note: str = ""

    @classmethod
    def of(cls, kernel, M: int, N: int, K: int, gpu, note: str = "") -> TileTable:
        """All facts of a kernel; waits for the compiler."""
        return cls.quick(kernel, M, N, K, gpu, note).completed(later_facts(kernel, gpu))

    @classmethod
    def quick(cls, kernel, M: int, N: int, K: int, gpu, note: str = "") -> TileTable:
        """The facts that need no compiler; the others are pending."""
        pending = [Fact(name, PENDING) for name in LATER]
        title = f"{kernel.label} at M = {M}, N = {N}, K = {K} on {getattr(gpu, 'name', gpu)}"
        return cls(title, (*quick_facts(kernel, M, N, K), *pending), "", note)

    def completed(self, later: Iterable[Fact]) -> TileTable:
        """This table with the pending facts filled in."""
        known = {fact.name: fact for fact in later}
        return replace(self, facts=tuple(known.get(fact.name, fact) for fact in self.facts))

    def refused(self, choice: str, problem: str) -> TileTable:
        """This table as the last possible choice, after one that is impossible."""
        return replace(self, problem=f"{choice} is not possible: {problem}")

    @property
    def text(self) -> str:
        if self.problem:
            return "\n".join([self.problem, *([f"(the last possible choice was {self.title})"] if self.facts else [])])
        width = max(len(fact.name) for fact in self.facts)
        rows = [f"  {fact.name:<{width}}  {fact.value:>12}  {fact.remark}".rstrip() for fact in self.facts]
        return "\n".join([self.title, *rows, *([self.note] if self.note else [])])

    def html(self) -> str:
        alert = element("div", escape(self.problem), cls="gl-alert", role="alert") if self.problem else ""
        if not self.facts:    # no choice was possible yet
            return alert
        caption = self.title + (": the last possible choice, no longer selected" if self.problem else "")
        heads = (("", "gl-key", "left"), ("value", None, "right"), ("remark", "gl-remark", "left"))
        head = element("tr", "".join(element("th", name, scope="col", cls=cls, style=f"text-align: {side}")
                                     for name, cls, side in heads))
        note = element("p", escape(self.note)) if self.note else ""
        return alert + table(head, [self._row(fact) for fact in self.facts], caption) + note

    def _row(self, fact: Fact) -> str:
        value, remark = escape(fact.value), escape(fact.remark)
        if self.problem:
            value, remark = element("s", value), element("s", remark)
        cells = element("th", escape(fact.name), scope="row", cls=f"gl-{fact.space} gl-key" if fact.space else "gl-key",
                        style=LEFT)
        cells += element("td", value) + element("td", remark, cls="gl-remark", style=LEFT)
        return element("tr", cells, cls="gl-old" if self.problem else None)
