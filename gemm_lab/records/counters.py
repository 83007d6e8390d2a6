"""Hardware counters, read by Nsight Compute (ncu), and the one law that they confirm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from gemm_lab.counts import WARP
from gemm_lab.records import files
from gemm_lab.records.files import source_hash
from gemm_lab.records.timings import Size, label_of, recorded, size_text, triple
from gemm_lab.tables import Table

FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts.sum"
COUNTERS_OF = {"law": "wavefronts", "ladder": "laddercounters"}    # a record of times -> that of the counters


@dataclass(frozen=True)
class CounterRow:
    """Hardware counters of one launch, as Nsight Compute (ncu) read them.

    counters   ncu's metric name -> value; a metric that this ncu does not know is missing, never computed
    source     hash of the source that was measured
    """

    kernel: str
    M: int
    N: int
    K: int
    beta: float
    counters: Mapping[str, int | float] = field(repr=False)
    source: str = field(default="", repr=False)

    def __post_init__(self):
        files.check_row(self.kernel, self.size)
        files.check_texts(source=self.source)
        files.check_number(f"beta of {self.kernel} at {self.size}", self.beta)
        if not isinstance(self.counters, Mapping):
            raise ValueError(f"counters of {self.kernel} at {self.size} is {self.counters!r}; "
                             "it must give each metric a number")
        for metric, value in self.counters.items():
            files.check_number(f"{metric} of {self.kernel} at {self.size}", value, 0)

    @property
    def size(self) -> tuple[int, int, int]:
        return self.M, self.N, self.K

    @property
    def wavefronts_per_warp_fma(self) -> float | None:
        """The w of the one law, measured: load/store wavefronts for each warp-FMA; None where a counter is missing."""
        fma, wavefronts = self.counters.get(FFMA), self.counters.get(WAVEFRONTS)
        return None if not fma or wavefronts is None else wavefronts * WARP / fma

    def stale(self, kernel) -> bool:
        """Whether the kernel's source has changed since it was measured."""
        return self.source != source_hash(kernel.source)


def save_counters(path: str | Path, rows: Iterable[CounterRow], about: Mapping) -> Path:
    """Write counters as JSON; `about` holds device, driver, date, versions, missing metrics."""
    return files.write(path, "counters", {**about, "rows": [asdict(row) for row in rows]})


def load_counters(path: str | Path) -> list[CounterRow]:
    """Read a record of counters; ValueError if it is none."""
    return counter_rows(files.read(path, "counters"), path)


def counter_rows(record: Mapping, path: str | Path) -> list[CounterRow]:
    """The rows of a record of counters that was read from a file; ValueError if they are none."""
    try:
        return [CounterRow(**row) for row in record["rows"]]
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is not a record of counters: {error}") from None


def recorded_counters(device: str = "H200", experiment: str = "counters") -> list[CounterRow]:
    """Counters that ship: "counters", the course's kernels at small sizes, or "wavefronts", those of the law's table.

    Raises ValueError for a record that does not ship, naming those that do.
    """
    return load_counters(files.shipped(experiment, device))


@dataclass(frozen=True)
class LawRow:
    """A kernel under the one law: its wavefronts per warp-FMA by ncu, the cap that follows, and what was measured."""

    kernel: str
    M: int
    N: int
    K: int
    w: float
    cap_tflops: float
    tflops: float


    @property
    def share(self) -> float:
        """Measured speed over the cap."""
        return self.tflops / self.cap_tflops


@dataclass(frozen=True, repr=False)
class Law(Table):
    """The one law against measurements: rows of (kernel, size, w, cap, measured). Shows itself as a table."""

    rows: tuple[LawRow, ...]
    device: str
    date: str

    def __iter__(self):
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, kernel) -> LawRow:
        """The row of a kernel (or label), at the first size that was recorded; ValueError if there is none."""
        for row in self.rows:
            if row.kernel == label_of(kernel):
                return row
        raise ValueError(f"{label_of(kernel)} is not in this table; it has "
                         f"{', '.join(row.kernel for row in self.rows)}")

    def select(self, kernels=None, size: Size | None = None) -> Law:
        """The rows of some kernels (or labels), in their order, and of one size N or (M, N, K)."""
        several = kernels if isinstance(kernels, list | tuple) else [kernels]
        labels = [row.kernel for row in self.rows] if kernels is None else [label_of(k) for k in several]
        fitting = [r for r in self.rows if size is None or (r.M, r.N, r.K) == triple(size)]
        return replace(self, rows=tuple(r for label in dict.fromkeys(labels) for r in fitting if r.kernel == label))

    def table(self) -> list[tuple[str, ...]]:
        """The rows as texts, in the order of HEAD."""
        return [(row.kernel, size_text((row.M, row.N, row.K)), f"{row.w:.2f}", f"{row.cap_tflops:.2f}",
                 f"{row.tflops:.2f}", f"{100 * row.share:.0f}") for row in self.rows]

    HEAD: ClassVar = ("kernel", "size", "w", "cap, TFLOPS", "measured, TFLOPS", "% of cap")

    @property
    def caption(self) -> str:
        return f"w by ncu, cap and measured speed on one {self.device}, {self.date}"


def recorded_law(device: str = "H200", experiment: str = "law") -> Law:
    """Every kernel of a record: w by ncu, the cap that follows (`Gpu.lsu_tflops_cap`), measured TFLOPS.

    experiment   "law", variants of kernels 01 to 03, or "ladder", the kernels from 03 to 09; ValueError for others
    """
    from gemm_lab.hardware import gpus
    if experiment not in COUNTERS_OF:
        raise ValueError(f"there is no law of {experiment!r}; there is one of {' and '.join(map(repr, COUNTERS_OF))}")
    times = recorded(device, experiment)
    gpu = gpus[times.device]
    rows = (LawRow(c.kernel, *c.size, w, gpu.lsu_tflops_cap(w), times.tflops(c.kernel, *c.size))
            for c in recorded_counters(device, COUNTERS_OF[experiment]) if (w := c.wavefronts_per_warp_fma))
    return Law(tuple(rows), times.device, times.date)
