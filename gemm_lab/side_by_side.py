"""The emulator's counts beside the hardware's, for the launches that ship as records."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gemm_lab.arguments import checked_kernel, checked_sizes
from gemm_lab.counts import Counts
from gemm_lab.kernels import GemmKernel
from gemm_lab.records import FFMA, CounterRow, recorded_counters, size_text
from gemm_lab.views import View, element, table

# Field of Counts -> the metric of Nsight Compute that counts the same thing, exactly and at every size.
SAME_AS = {
    "fma": FFMA,
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__sass_inst_executed_op_shared_ld.sum",
    "shared_store_requests": "smsp__sass_inst_executed_op_shared_st.sum",
}
# The same thing, to which hardware adds up to 1.2 % of all shared wavefronts in large launches (512^3), mostly at
# stores, where instructions of different warps meet, and up to one for each S2R (reading threadIdx) between two loads.
AT_LEAST = {
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
# Distinct lines are an upper bound: hardware reaches it where the lines fall into the same sets of L1.
AT_MOST = {
    "global_load_wavefronts": "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
    "global_store_wavefronts": "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum",
}


@dataclass(frozen=True, repr=False)
class SideBySide(View):
    """Rows of (count, emulated, measured) for one kernel at one size."""

    kernel: str
    size: tuple[int, int, int]
    device: str
    rows: tuple[tuple[str, int, int | None], ...] = field(default=())

    @property
    def equal(self) -> bool:
        """Whether every count that the hardware has equals the emulator's."""
        return all(emulated == measured for _, emulated, measured in self.rows if measured is not None)

    @property
    def title(self) -> str:
        verdict = "equal" if self.equal else "NOT equal"
        return f"{self.kernel} at {size_text(self.size)}: emulator and {self.device} counters are {verdict}"

    @property
    def text(self) -> str:
        lines = [f"  {name:22} {emulated:>14,} {_shown(measured):>14}" for name, emulated, measured in self.rows]
        return "\n".join([self.title, f"  {'':22} {'emulator':>14} {self.device:>14}", *lines])

    def html(self) -> str:
        head = element("tr", "".join(element("th", name, scope="col") for name in ("count", "emulator", self.device)))
        body = [element("tr", element("th", name.replace("_", " "), scope="row") + element("td", f"{emulated:,}")
                        + element("td", _shown(measured))) for name, emulated, measured in self.rows]
        return table(head, body, self.title)


def _shown(measured: int | None) -> str:
    return "not recorded" if measured is None else f"{measured:,}"


def compare_counters(kernel: GemmKernel, M: int, N: int, K: int, beta: float = 0.0, device: str = "H200") -> SideBySide:
    """Run a kernel in the emulator and put its counts beside the counters that were recorded on a GPU.

    ValueError if this kernel was not recorded at this size with this beta.
    """
    checked_kernel(kernel)
    M, N, K = checked_sizes(M, N, K)
    recorded = find(recorded_counters(device), kernel.label, (M, N, K), beta)
    counts = emulated_counts(kernel, M, N, K, beta)
    rows = tuple((name, count, recorded.counters.get(metric)) for name, metric in SAME_AS.items()
                 if (count := getattr(counts, name)) or recorded.counters.get(metric))    # not what neither has
    return SideBySide(kernel.label, (M, N, K), device, rows)


def find(rows: list[CounterRow], label: str, size: tuple[int, int, int], beta: float) -> CounterRow:
    """The recorded launch; ValueError naming what there is."""
    for row in rows:
        if (row.kernel, row.size, row.beta) == (label, size, beta):
            return row
    sizes = sorted({(size_text(r.size), r.beta) for r in rows if r.kernel == label})
    there = ", ".join(f"{s} with beta {b:g}" for s, b in sizes) or "nothing"
    raise ValueError(f"no counters of {label} at {size_text(size)} with beta {beta:g}; recorded for it: {there}")


def emulated_counts(kernel: GemmKernel, M: int, N: int, K: int, beta: float) -> Counts:
    """Counts of one emulated launch; they do not depend on the values."""
    A, B, C = (np.ones(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))
    return kernel.run(A, B, C, beta=beta).counts
