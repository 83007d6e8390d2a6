"""Find the fastest tile of a kernel: try what its constraints allow, on the GPU at hand, and keep what was measured.

1. Constraints: every combination of the values in `SPACES` that the kernel's class accepts.
2. The compiler's report: what spills registers, or does not fit on an SM, is left out unmeasured.
3. The rest is verified and timed beside cuBLAS, by the protocol of `benchmark`.

Each measurement goes into the record at once: the next run goes on where this one ended. A measurement counts for its
device, its source and its size alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path

from gemm_lab import gpu
from gemm_lab.arguments import checked_kernel_class
from gemm_lab.benchmark import benchmark, several_sizes
from gemm_lab.kernels import CourseKernel, RegisterTiling1D, SharedTiling
from gemm_lab.ladder import PipelinedTiling1D, Pipelining, RegisterTiling2D, Reordering, SlicedK, SplitK, WarpTiling
from gemm_lab.occupancy import occupancy_of
from gemm_lab.records import CUBLAS, Measurements, Size, joined, load, record_name, recorded, size_text

SECONDS = 0.05    # how long each kernel is timed at each size
GROUP = 6         # kernels that are timed together with cuBLAS

_TILES = {"BM": (32, 64, 96, 128), "BN": (64, 128, 256), "BK": (8, 16, 24, 32)}
_PIPELINE = _TILES | {"TM": (4, 8, 12, 16), "TN": (4, 8), "STAGES": (2, 3, 4), "BLOCKS": (1, 2, 3, 4)}
SPACES: Mapping[type, Mapping[str, tuple]] = {
    SharedTiling: {"TILE": (8, 16, 24, 32)},
    RegisterTiling1D: {"BM": (32, 64, 128), "BN": (32, 64, 128), "BK": (8, 16, 32), "TM": (4, 8, 16, 32)},
    PipelinedTiling1D: _TILES | {"TM": (16, 32, 64), "BLOCKS": (1, 2, 3, 4)},
    RegisterTiling2D: _TILES | {"TM": (4, 8, 16), "TN": (4, 8)},
    WarpTiling: _TILES | {"TM": (4, 8, 16), "TN": (4, 8)},
    Pipelining: _PIPELINE,
    Reordering: _PIPELINE | {"ORDER": (1, 2)},
    SlicedK: _PIPELINE | {"SLICES": (2, 4), "DOWN": (False, True)},
    SplitK: _PIPELINE | {"SPLITS": (2, 4, 8, 16), "DOWN": (False, True)},
}


@dataclass(frozen=True, repr=False)
class Tuning:
    """What was measured of one kernel's tiles, and which were left out and why. Shows the fastest of each size."""

    measurements: Measurements
    left_out: Mapping[str, str] = field(default_factory=dict)
    shown = 5

    def ranking(self, size: Size) -> Measurements:
        """The tiles at one size, the fastest first."""
        rows = sorted(self.measurements.select(size=size).rows, key=lambda row: row.median_ms)
        return Measurements(tuple(row for row in rows if row.kernel != CUBLAS), self.measurements.device,
                            self.measurements.driver, self.measurements.date)

    def __repr__(self) -> str:
        tables = (Measurements(self.ranking(size).rows[:self.shown], self.measurements.device, self.measurements.driver,
                               self.measurements.date) for size in self.measurements.sizes)
        left_out = f"left out unmeasured, because they spill or do not fit: {len(self.left_out)}"
        return "\n\n".join([*map(str, tables), *([left_out] if self.left_out else [])])


def tune(kernel_class: type[CourseKernel], sizes: Size | Iterable[Size] = 1024, *, most: int | None = None,
         seconds: float = SECONDS, path: str | Path | None = None, progress: bool = True) -> Tuning:
    """Measure the tiles of a class of kernels at some sizes; without a GPU, what was recorded before.

    sizes   each N, or (M, N, K)
    most    so many tiles at most, those with the most multiplications for each word from shared memory
    path    the record, which is read first and extended (default: none is kept; without a GPU, the one that ships)

    ValueError for a class without a space of tiles in `SPACES`; NoGpu without a GPU where nothing was recorded.
    """
    sizes = several_sizes(sizes)
    record = load(path) if path and Path(path).is_file() else None
    if not gpu.available():
        return Tuning(_replayed(kernel_class, sizes, record))
    chosen, left_out = pruned(space(kernel_class), gpu.device())
    chosen = sorted(chosen, key=_words_per_fma)[:most]
    from tqdm import tqdm
    work = [(size, group) for size in sizes for group in _missing(chosen, size, record)]
    for size, group in tqdm(work, unit="group", leave=False, desc="tuning", disable=not progress):
        part = benchmark(group, [size], seconds=seconds, progress=False)
        record = joined([part, record]) if record else part    # of a row that occurs twice, the new one counts
        if path:
            record.save(path)
    return Tuning(record.select([*chosen, CUBLAS], sizes), left_out)


def space(kernel_class: type[CourseKernel]) -> list[CourseKernel]:
    """Every tile in the class's space that its constructor accepts."""
    values = SPACES.get(checked_kernel_class(kernel_class))
    if values is None:
        raise ValueError(f"there is no space of tiles for {kernel_class.__name__}; there are spaces for "
                         f"{', '.join(known.__name__ for known in SPACES)}")
    kernels = []
    for tile in product(*values.values()):
        try:
            kernels.append(kernel_class(**dict(zip(values, tile, strict=True))))
        except ValueError:
            continue
    return kernels


def pruned(kernels: Iterable[CourseKernel], device: gpu.Device) -> tuple[list[CourseKernel], dict[str, str]]:
    """(kernels worth measuring, label -> why not): by the compiler's report and by occupancy."""
    chosen, left_out = [], {}
    for kernel in kernels:
        compiled = kernel.compile(device.arch)
        blocks = occupancy_of(prod(kernel.block), compiled.registers, compiled.shared_bytes,
                              compute_capability=device.compute_capability).blocks
        if compiled.spill_bytes:
            left_out[kernel.label] = f"{compiled.spill_bytes} bytes of registers spill"
        elif blocks < getattr(kernel, "BLOCKS", 1):
            left_out[kernel.label] = f"{blocks} blocks fit on an SM"
        else:
            chosen.append(kernel)
    return chosen, left_out


def _words_per_fma(kernel: CourseKernel) -> float:
    TM, TN = getattr(kernel, "TM", 1), getattr(kernel, "TN", 1)
    return (TM + TN) / (TM * TN)


def _missing(kernels: list[CourseKernel], size: tuple, record: Measurements | None) -> Iterator[list[CourseKernel]]:
    """The kernels that the record does not have at a size, with their present source, in groups."""
    stale = record.stale(kernels) if record else ()
    known = {row.kernel for row in record.select(size=size).rows if row.kernel not in stale} if record else set()
    missing = [kernel for kernel in kernels if kernel.label not in known]
    return (missing[n:n + GROUP] for n in range(0, len(missing), GROUP))


def _replayed(kernel_class, sizes: list[tuple], record: Measurements | None) -> Measurements:
    """The recorded measurements of a class; NoGpu where there are none."""
    sources = [record] if record else [recorded(name, "tuning") for name in _shipped()]
    for source in sources:
        rows = source.select([label for label in source.kernels if _class_of(label) == kernel_class.__name__
                              or label == CUBLAS], sizes)
        if any(row.kernel != CUBLAS for row in rows.rows):
            return rows
    known = sorted({_class_of(row.kernel) for source in sources for row in source.rows} - {CUBLAS})
    records = (f"; there are records of {', '.join(known)} at "
               f"{', '.join(size_text(size) for size in sources[0].sizes)}" if known else "")
    raise gpu.NoGpu(f"{gpu.reason().rstrip('.')}. No tuning of {kernel_class.__name__} at "
                    f"{', '.join(map(size_text, sizes))} was recorded{records}")


def _class_of(label: str) -> str:
    """"SplitK" of "SplitK(BM=64, ...)"."""
    return label.partition("(")[0]


def _shipped() -> list[str]:
    from gemm_lab.records import shipped_devices
    return shipped_devices("tuning")


# --- the command `gemm-lab tune`

def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gemm-lab tune`."""
    parser.add_argument("kernel", choices=[known.__name__ for known in SPACES], help="the class of kernels")
    parser.add_argument("--sizes", nargs="+", type=int, default=[1024, 4096], help="default: 1024 4096")
    parser.add_argument("--most", type=int, help="measure so many tiles at most")
    parser.add_argument("--out", type=Path, help="the record (default: tuning_DEVICE.json in this folder)")


def tune_command(options: argparse.Namespace) -> int:
    """`gemm-lab tune`: measure the tiles of a kernel, go on where the record ends, and print the fastest."""
    path = options.out or (Path(record_name("tuning", gpu.device().name)) if gpu.available() else None)
    kernel_class = next(known for known in SPACES if known.__name__ == options.kernel)
    print(tune(kernel_class, options.sizes, most=options.most, path=path))
    return 0
