"""What the warps of a kernel wait for, as Nsight Compute (ncu) samples it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gemm_lab.counts import WARP
from gemm_lab.records import files
from gemm_lab.records.counters import FFMA, CounterRow, counter_rows
from gemm_lab.records.timings import label_of
from gemm_lab.tables import Table

# Reason -> what it means (Nsight Compute's documentation, "Warp Stall Reasons").
REASONS = {
    "long_scoreboard": "a word from global memory",
    "short_scoreboard": "a word from shared memory",
    "mio_throttle": "room in the queue for shared memory",
    "barrier": "other warps, at a barrier",
    "dispatch_stall": "the dispatcher, as for operands of one register bank",
    "not_selected": "its turn: another warp issued",
}
_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


@dataclass(frozen=True)
class Stall:
    """How many cycles a warp waits between two of its instructions, on average: a field for each of `REASONS`.

    These are the reasons that matter to the course's kernels; ncu knows others, so the sum is not all of the time.

    active_warps           warps on an SM, in percent of the most that it can hold
    instructions_per_fma   instructions of a warp for each of its FMAs; 1 would be FMAs alone
    """

    kernel: str
    long_scoreboard: float
    short_scoreboard: float
    mio_throttle: float
    barrier: float
    dispatch_stall: float
    not_selected: float
    active_warps: float
    instructions_per_fma: float

    @classmethod
    def of(cls, row: CounterRow) -> Stall:
        """From the counters of a launch; KeyError where one is missing."""
        counters = row.counters
        return cls(row.kernel, *(counters[_STALL.format(reason)] for reason in REASONS),
                   active_warps=counters["sm__warps_active.avg.pct_of_peak_sustained_active"],
                   instructions_per_fma=counters["smsp__inst_executed.sum"] * WARP / counters[FFMA])


@dataclass(frozen=True, repr=False)
class Stalls(Table):
    """What the warps of several kernels wait for: one `Stall` each. Shows itself as a table."""

    rows: tuple[Stall, ...]
    device: str
    date: str
    size: tuple[int, int, int]

    HEAD: ClassVar = ("kernel", *(reason.replace("_", " ") for reason in REASONS), "active warps, %",
                      "instructions per FMA")

    def __iter__(self):
        return iter(self.rows)

    def __getitem__(self, kernel) -> Stall:
        """The row of a kernel (or label); ValueError if there is none."""
        for row in self.rows:
            if row.kernel == label_of(kernel):
                return row
        raise ValueError(f"{label_of(kernel)} is not in this record; it has {', '.join(r.kernel for r in self.rows)}")

    def select(self, kernels) -> Stalls:
        """The rows of some kernels (or labels), in their order."""
        several = kernels if isinstance(kernels, list | tuple) else [kernels]
        return Stalls(tuple(self[kernel] for kernel in several), self.device, self.date, self.size)

    def table(self) -> list[tuple[str, ...]]:
        return [(row.kernel, *(f"{getattr(row, reason):.2f}" for reason in REASONS), f"{row.active_warps:.1f}",
                 f"{row.instructions_per_fma:.3f}") for row in self.rows]

    @property
    def caption(self) -> str:
        return (f"cycles that a warp waits per instruction, by ncu on one {self.device}, {self.date}, "
                f"M = {self.size[0]}, N = {self.size[1]}, K = {self.size[2]}")


def recorded_stalls(device: str = "H200") -> Stalls:
    """What the warps of the kernels from 03 to 09 wait for, from the record "laddercounters".

    ValueError for a device of which none ships.
    """
    path = files.shipped("laddercounters", device)
    record = files.read(path, "counters")
    rows = counter_rows(record, path)
    return Stalls(tuple(map(Stall.of, rows)), record["device"], record["date"], rows[0].size)
