"""What one execution of a kernel leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gemm_lab.counts import Counts

FINDING_KINDS = ("out-of-bounds", "uninitialized", "race", "barrier-divergence", "misaligned", "endless-loop",
                 "assertion", "unsupported")


@dataclass(frozen=True)
class Finding:
    """One defect seen while the kernel ran. `line` is the 1-based source line, or None where none is known."""

    kind: str
    line: int | None
    message: str
    other_line: int | None = None      # the second line of a race

    def __post_init__(self):
        if self.kind not in FINDING_KINDS:
            raise ValueError(f"unknown kind of finding {self.kind!r}; the kinds are {', '.join(FINDING_KINDS)}")

    @property
    def lines(self) -> tuple[int, ...]:
        """Every source line that the finding names."""
        return tuple(n for n in (self.line, self.other_line) if n is not None)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True)
class Run:
    """The result of `kernel.run` or `gl.emulate`.

    C          the result, shape (M, N), float32; None from `gl.emulate`, which updates its arrays in place
    counts     totals over the launch; None on the GPU
    by_line    source line -> what that line did (empty on the GPU and in mode "values")
    findings   defects, one entry for each
    trace      what one block did, step by step (`emulator.tracing.Trace`); only in mode "trace"
    output     what the kernel printed
    completed  False if the run was stopped (out of bounds, endless loop, unsupported instruction): C is then partial
    backend    "emulator" or "gpu"
    seconds    kernel time by events on the GPU; wall time of the emulation, compilation excluded
    emulator   the emulator's back end that executed the kernel, "numpy" or "llvm"; None on the GPU
    instructions  of the PTX, summed over all threads; None on the GPU and in mode "values"
    ptx_lines  source lines whose shared requests, wavefronts and conflicts are those of the PTX, because it could not
               be told what the machine code makes of them; everywhere else they are the machine's
    notes      what may explain wrong values
    optimized  False: only the unoptimised code shows the findings (mode "check"); then what is wrong with C, which is
               the optimised code's, and anything that other runs show, may be mere consequences
    doubtful   reads of unwritten shared memory of which nothing came: no defect, unless the values are wrong
    waits      some thread waits until another one sets a flag, a lock or a ticket
    learns     some thread learns from an atomic's answer what others have done
    """

    C: np.ndarray | None
    counts: Counts | None = None
    by_line: Mapping[int, Counts] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    trace: Any = None
    output: str = ""
    completed: bool = True
    backend: str = "emulator"
    seconds: float = 0.0
    ptx_lines: tuple[int, ...] = ()
    emulator: str | None = None
    instructions: int | None = None
    notes: tuple[str, ...] = ()
    optimized: bool = True
    doubtful: tuple[Finding, ...] = ()
    waits: bool = False
    learns: bool = False

    def __repr__(self) -> str:
        # No time in here: a lesson's text output must not change from run to run.
        parts = [] if self.C is None else [f"C {self.C.shape[0]}x{self.C.shape[1]}"]
        if self.counts is not None and self.counts.fma:
            parts.append(f"{self.counts.fma:,} FMAs")
        parts.append("completed" if self.completed else "stopped")
        parts += [str(f) for f in self.findings]
        return f"Run({'; '.join(parts)})"


def with_doubts(run: Run) -> Run:
    """The run, where nothing says that values nobody has written came to anything."""
    sure, doubtful = (tuple(f for f in run.findings if (f.kind == "uninitialized") is unused)
                      for unused in (False, True))
    return replace(run, findings=sure, doubtful=doubtful)
