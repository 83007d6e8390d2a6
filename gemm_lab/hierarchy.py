"""The memories of a GPU from the FMA units outwards: what each holds, and how fast it delivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from gemm_lab.counts import WORD_BYTES
from gemm_lab.gpu_facts import Gpu
from gemm_lab.hardware import find_gpu
from gemm_lab.views import View, element, table

WORDS_PER_FMA = 3    # an FMA reads two factors and a summand


@dataclass(frozen=True)
class Level:
    """One memory.

    space   "registers", "shared" or "global": its colour
    holds   bytes on the whole GPU; `where` says how they are spread over it
    gbs     what it delivers towards the FMA units at best, in GB/s; None where nobody published it
    how     the rule or the source of `gbs`
    """

    name: str
    space: str
    holds: int
    where: str
    gbs: float | None
    how: str

    @property
    def size(self) -> str:
        """`holds` in words: DRAM in decimal units, as data sheets do, what is on the chip in binary ones."""
        return f"{self.holds / 1e9:.4g} GB" if self.name == "DRAM" else f"{self.holds / 2**20:.4g} MiB"

    @property
    def speed(self) -> str:
        """`gbs` in words."""
        return "not published" if self.gbs is None else f"{self.gbs / 1000:.3g} TB/s"


@dataclass(frozen=True, repr=False)
class Hierarchy(View):
    """The memories of one GPU, the nearest to the FMA units first. Shows itself as a table."""

    gpu: Gpu = field(repr=False)
    levels: tuple[Level, ...]

    def flop_per_byte(self, level: Level) -> float | None:
        """FLOP for each byte of this memory that keep the FMA units busy: peak / bandwidth."""
        return None if level.gbs is None else 1000 * self.gpu.peak_fp32_tflops / level.gbs

    @property
    def caption(self) -> str:
        """One sentence: the text alternative."""
        parts = [f"{v.name} {v.size}, {v.speed}" for v in self.levels]
        return (f"From the FMA units of the {self.gpu.name} ({self.gpu.peak_fp32_tflops:.1f} TFLOPS) outwards: "
                f"{'; '.join(parts)}.")

    @property
    def note(self) -> str:
        """What stands below the table."""
        return (f"{self.gpu.product}: FP32 peak {self.gpu.peak_fp32_tflops:.1f} TFLOPS at {self.gpu.boost_mhz} MHz; "
                f'gl.gpus["{self.gpu.name}"] gives the source of each value')

    def rows(self) -> list[tuple[str, ...]]:
        """Memory, what it holds, where, bandwidth, its rule, FLOP per byte."""
        def needed(level):
            value = self.flop_per_byte(level)
            return "" if value is None else f"{value:.2g}" if value < 1 else f"{value:.1f}"
        return [(v.name, v.size, v.where, v.speed, v.how, needed(v)) for v in self.levels]

    @property
    def text(self) -> str:
        lines = [HEAD, *self.rows()]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join(["  ".join(f"{word:<{w}}" for word, w in zip(line, widths)).rstrip() for line in lines]
                         + ["", self.note])

    def html(self) -> str:
        left = {"cls": "gl-text", "style": "text-align: left"}
        head = element("tr", "".join(element("th", name, scope="col", **left) for name in HEAD))
        return table(head, [self._row(level, row) for level, row in zip(self.levels, self.rows())], self.note)

    def _row(self, level: Level, row: tuple[str, ...]) -> str:
        name = element("th", escape(row[0]), scope="row", cls=f"gl-{level.space} gl-key", style="text-align: left")
        return element("tr", name + "".join(element("td", escape(word), cls="gl-text", style="text-align: left")
                                            for word in row[1:]))


HEAD = ("memory", "holds", "where", "delivers", "from", "FLOP per byte at the peak")


def hierarchy(gpu: str | Gpu = "H200") -> Hierarchy:
    """Registers, L1 and shared memory, L2 and DRAM of a GPU: a `Gpu` or its name in `gl.gpus`.

    The bandwidth of the registers is what the FMA units take from them at the FP32 peak: three words per FMA. That of
    L1 and shared memory is the load/store pipe's; those of L2 and DRAM are from the catalogue, with their sources.
    Raises ValueError for a GPU that the catalogue does not know.
    """
    gpu = find_gpu(gpu)
    fma_per_second = gpu.peak_fp32_tflops / 2    # in 10^12
    every = f"in each of {gpu.sms} SMs"
    register_bytes = WORD_BYTES * gpu.registers_per_sm
    return Hierarchy(gpu, (
        Level("registers", "registers", gpu.sms * register_bytes, f"{register_bytes // 1024} KiB {every}",
              1000 * WORD_BYTES * WORDS_PER_FMA * fma_per_second, "three words per FMA at the peak"),
        Level("L1 and shared memory", "shared", gpu.sms * gpu.l1_bytes_per_sm,
              f"{gpu.l1_bytes_per_sm // 1024} KiB {every}", gpu.pipe_gbs,
              f"one pipe, {gpu.shared_bandwidth_bytes_per_clk_per_sm} bytes per clock and SM"),
        Level("L2", "global", gpu.l2_bytes, "one, for all SMs", gpu.l2_gbs,
              "a published measurement" if gpu.l2_gbs else ""),
        Level("DRAM", "global", round(gpu.dram_gb * 1e9), "outside the chip", gpu.dram_gbs, "data sheet"),
    ))
