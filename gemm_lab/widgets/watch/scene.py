"""A scene: one execution of a kernel as the browser gets it, `meta` (JSON) and `data` (one piece of bytes).

The matrices hold whole numbers from 1 to 9, so that every value on the screen can be checked by hand.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, WARP, Counts
from gemm_lab.emulator.tracing.phases import PHASES
from gemm_lab.emulator.tracing.trace import KINDS, Trace
from gemm_lab.hardware import gpus
from gemm_lab.run import Run
from gemm_lab.shared_wavefronts import BANKS
from gemm_lab.widgets.watch import words
from gemm_lab.widgets.watch.setup import PRESETS, Setup, barrier_lines, cannot_swap, parameters

GPU = "H200"    # the one law's cap is for this GPU
ROLES = {4: "A", 5: "B", 7: "C"}    # position among the arguments of a GEMM kernel


@dataclass(frozen=True, eq=False)
class Scene:
    """A setup and what happened. `other`: the same in lockstep, if another order was asked for."""

    setup: Setup
    run: Run
    A: np.ndarray
    B: np.ndarray
    other: Run | None = None

    @property
    def trace(self) -> Trace:
        return self.run.trace

    @cached_property
    def wrong(self) -> np.ndarray:
        """The elements of C that are not those of A*B."""
        return self.run.C != (self.A.astype(float) @ self.B).astype(np.float32)

    @cached_property
    def differs(self) -> np.ndarray:
        """The elements of C that come out otherwise in lockstep."""
        if self.other is None:
            return np.zeros(self.run.C.shape, bool)
        return ~((self.run.C == self.other.C) | (np.isnan(self.run.C) & np.isnan(self.other.C)))

    def payload(self, live: bool = True) -> dict:
        """What the browser gets."""
        columns, data = pack(self.columns())
        return {"meta": json.dumps(clean(self.meta() | {"columns": columns, "live": live})), "data": data}

    def columns(self) -> dict[str, np.ndarray]:
        """Everything that is an array, by name."""
        trace, names = self.trace, ("masks", "index", "value", "sources", "constants", "mixed")
        flat = {name: getattr(trace, name) for name in names}
        reads = {f"reads{number}": reads for number, reads in trace.reads.items()}
        return {**trace.steps, **flat, **reads, "sentence": words.sentences(trace)[1], "A": self.A, "B": self.B,
                "C": self.run.C, "wrong": self.wrong, "differs": self.differs}

    def meta(self) -> dict:
        """Everything else."""
        setup, trace, kernel = self.setup, self.trace, self.setup.executed
        M, N, K = setup.M, setup.N, setup.K
        return {
            "title": setup.title, "label": setup.kernel.label, "entry": kernel.entry,
            "source": kernel.source.split("\n"), "parameters": parameters(setup.kernel),
            "size": [M, N, K], "grid": trace.grid, "block": trace.block, "shape": trace.block_shape,
            "threads": trace.threads, "thread": setup.thread, "steps": len(trace),
            "arrays": [asdict(a) | {"role": self.role(a)} for a in trace.arrays],
            "kinds": KINDS, "phaseKeys": PHASES, "sentences": words.sentences(trace)[0],
            "findings": [asdict(f) for f in trace.findings], "spots": [asdict(s) for s in trace.spots],
            "completed": self.run.completed, "ptxLines": self.run.ptx_lines, "counts": known(self.run.counts),
            "paper": known(setup.kernel.counts(M, N, K)),
            "barriers": barrier_lines(setup.kernel), "removed": setup.removed, "order": setup.order,
            "swapped": setup.swapped, "cannotSwap": cannot_swap(setup.kernel), "presets": list(PRESETS),
            "warp": WARP, "banks": BANKS, "sectorBytes": SECTOR_BYTES, "lineBytes": LINE_BYTES,
            "gpu": GPU, "cap": gpus[GPU].lsu_tflops_cap(1.0)}

    def role(self, array) -> str | None:
        """Which matrix of the product an array is."""
        return ROLES.get(array.argument) if array.space == "global" else None


def known(counts: Counts) -> dict[str, int]:
    """The fields that were counted or derived."""
    return {name: n for name, n in asdict(counts).items() if n is not None}


def play(setup: Setup) -> Scene:
    """Execute a setup. ValueError if there is nothing to watch."""
    kernel = setup.executed
    A, B = inputs(setup.M, setup.N, setup.K)
    run = kernel.run(A, B, mode="trace", schedule=setup.order, trace_block=setup.block, backend="emulator")
    if run.trace is None:
        reasons = "; ".join(finding.message for finding in run.findings)
        raise ValueError(f"there is nothing to watch, because the run was refused: {reasons}")
    other = kernel.run(A, B, mode="count", backend="emulator") if setup.order != "lockstep" else None
    return Scene(setup, run, A, B, other)


def inputs(M: int, N: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """A and B: numbers from 1 to 9, the same each time."""
    random = np.random.default_rng(4)
    return tuple(random.integers(1, 10, shape).astype(np.float32) for shape in ((M, K), (K, N)))


def pack(columns: dict[str, np.ndarray]) -> tuple[dict, bytes]:
    """({name: (type, first byte, elements)}, bytes): arrays one after the other, each at a multiple of 4 bytes."""
    where, parts, at = {}, [], 0
    for name, column in columns.items():
        column = np.ascontiguousarray(column.view(np.uint8) if column.dtype == bool else column)
        where[name] = column.dtype.name, at, column.size
        parts.append(column.tobytes() + bytes(-column.nbytes % 4))
        at += len(parts[-1])
    return where, b"".join(parts)


def clean(value):
    """A value as JSON can hold it: NumPy's numbers become Python's."""
    if isinstance(value, dict):
        return {name: clean(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [clean(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value


