"""`gl.best` against cuBLAS, measured in pairs, in two runs; and how the record reads as one table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from gemm_lab.records import files
from gemm_lab.records.timings import CUBLAS, Measurements, Row, Size, size_text, triple
from gemm_lab.tables import Table

BEST = "gl.best"    # the label of whichever kernel `gl.best` names


@dataclass(frozen=True)
class Goal:
    """One size: the kernels that `gl.best` named in each run, and how they compare with cuBLAS.

    ratios          for each run the median over pairs of cuBLAS's time over the kernel's: above 1 the kernel is faster
    us, cublas_us   for each run the quartiles of one launch, in microseconds
    mhz             the SM clock under cuBLAS in each run
    """

    size: tuple[int, int, int]
    kernels: tuple[str, ...]
    ratios: tuple[float, ...]
    us: tuple[tuple[float, float, float], ...]
    cublas_us: tuple[tuple[float, float, float], ...]
    mhz: tuple[float, ...]

    @property
    def slower(self) -> int:
        """Which run, from 0, has the smallest ratio."""
        return self.ratios.index(min(self.ratios))

    @property
    def ratio(self) -> float:
        """The smallest of the runs."""
        return self.ratios[self.slower]

    @property
    def tflops(self) -> float:
        """Of the run with the smallest ratio: 2*M*N*K floating-point operations over the median."""
        return self._tflops(self.us)

    @property
    def cublas_tflops(self) -> float:
        """cuBLAS's, of the same run."""
        return self._tflops(self.cublas_us)

    def _tflops(self, us) -> float:
        return 2e-6 * prod(self.size) / us[self.slower][1]


@dataclass(frozen=True, repr=False)
class Goals(Table):
    """`gl.best` against cuBLAS: one `Goal` for each size. Shows itself as a table."""

    rows: tuple[Goal, ...]
    device: str
    driver: str
    date: str
    pairs: int
    protocol: str

    HEAD: ClassVar = ("kernel of the slower run", "size", "cuBLAS, TFLOPS", "ours, TFLOPS", "ratio, run 1", "run 2",
                      "spread, %", "MHz")

    def __iter__(self) -> Iterator[Goal]:
        return iter(self.rows)

    def __getitem__(self, size: Size) -> Goal:
        """The row of a size N or (M, N, K); ValueError if it was not measured."""
        for row in self.rows:
            if row.size == triple(size):
                return row
        raise ValueError(f"{size_text(triple(size))} was not measured; sizes: "
                         f"{', '.join(size_text(row.size) for row in self.rows)}")

    @property
    def measurements(self) -> Measurements:
        """As timings, of the run with the smaller ratio: rows of "gl.best" and of cuBLAS, for `plot_tflops`."""
        rows = [row for goal in self.rows for row in (
            _timing(BEST, goal, goal.tflops, 100 * goal.ratio), _timing(CUBLAS, goal, goal.cublas_tflops, 100.0))]
        return Measurements(tuple(rows), self.device, self.driver, self.date, protocol=self.protocol)

    def table(self) -> list[tuple[str, ...]]:
        return [(row.kernels[row.slower], size_text(row.size), f"{row.cublas_tflops:.1f}",
                 f"{row.tflops:.1f}", *(f"{ratio:.3f}" for ratio in row.ratios),
                 f"{max(100 * (high - low) / middle for low, middle, high in row.us):.1f}",
                 " ".join(dict.fromkeys(f"{mhz:.0f}" for mhz in row.mhz))) for row in self.rows]

    @property
    def caption(self) -> str:
        return (f"cuBLAS's time over ours, medians of {self.pairs} pairs of graph replays, two runs on "
                f"{self.device}, driver {self.driver}, {self.date}")


def _timing(label: str, goal: Goal, tflops: float, percent: float) -> Row:
    return Row(label, *goal.size, median_ms=2e-9 * prod(goal.size) / tflops, spread_ms=None, tflops=tflops,
               percent_of_cublas=percent)


def recorded_goals(device: str = "H200") -> Goals:
    """The record of `benchmarks/goals.py` that ships. ValueError for a device of which none does."""
    record = files.read(files.shipped("goals", device), "goals")
    by_size: dict[tuple, list[dict]] = {}
    for row in record["rows"]:
        by_size.setdefault(tuple(row["size"]), []).append(row)
    rows = (Goal(size, tuple(r["kernel"] for r in runs), tuple(r["ratio"] for r in runs),
                 tuple(tuple(r["us"]) for r in runs), tuple(tuple(r["cublas_us"]) for r in runs),
                 tuple(r["clock"].get("sm_mhz", 0.0) for r in runs)) for size, runs in by_size.items())
    return Goals(tuple(rows), record["device"], record["driver"], record["date"], record["pairs"], record["protocol"])
