"""Timings: how fast kernels and cuBLAS were on one GPU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

import numpy as np

from gemm_lab.arguments import checked_kernel
from gemm_lab.records import files
from gemm_lab.records.files import source_hash
from gemm_lab.tables import html_table

CUBLAS = "cuBLAS"    # the label of NVIDIA's library in every table
HEAD = ("size", "kernel", "ms", "spread", "TFLOPS", "% of cuBLAS", "% of peak")

Size = int | tuple[int, int, int]


@dataclass(frozen=True)
class Row:
    """How fast one kernel was on C (M, N) = A (M, K) * B (K, N).

    median_ms, spread_ms   of one launch: the median of the samples and their inter-quartile range
    tflops                 2*M*N*K floating-point operations over the median
    percent_of_cublas      cuBLAS's median of the same run over this one, in percent
    samples, launches      how many samples, and how many launches there are in one (above 1: a CUDA graph was replayed)
    """

    kernel: str
    M: int
    N: int
    K: int
    median_ms: float
    spread_ms: float | None
    tflops: float
    percent_of_cublas: float | None
    samples: int = 0
    launches: int = 1

    @classmethod
    def of(cls, kernel: str, size: tuple[int, int, int], samples_ms: Iterable[float], cublas_ms: float,
           launches: int = 1) -> Row:
        """The row of a kernel from its samples (ms of one launch) and cuBLAS's median."""
        samples = np.asarray(list(samples_ms), float)
        low, median, high = (float(q) for q in np.percentile(samples, (25, 50, 75)))
        M, N, K = size
        return cls(kernel, M, N, K, median, high - low, 2 * M * N * K / median / 1e9, 100 * cublas_ms / median,
                   len(samples), launches)

    def __post_init__(self):
        sizes = (self.M, self.N, self.K)
        files.check_row(self.kernel, sizes)
        for name in ("median_ms", "tflops"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ValueError(f"{name} of {self.kernel} at {sizes} is {value!r}; it must be a positive number")
        for name in ("spread_ms", "percent_of_cublas", "samples", "launches"):
            value = getattr(self, name)
            if value is not None or name in ("samples", "launches"):
                files.check_number(f"{name} of {self.kernel} at {sizes}", value, 0)

    @property
    def size(self) -> tuple[int, int, int]:
        return self.M, self.N, self.K


@dataclass(frozen=True, repr=False)
class Measurements:
    """Timings of kernels and cuBLAS on one GPU. Shows itself as a table; `plot_tflops` draws it.

    rows       one `Row` for each kernel and size
    device, driver, date, versions, protocol     what was measured on what, when, with what, and how
    clocks     for each size the SM clock (MHz), power (W) and temperature while it was measured, where known
    sources    label -> hash of the source that was measured (`source_hash`)
    """

    rows: tuple[Row, ...]
    device: str
    driver: str
    date: str
    compute_capability: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    protocol: str = ""
    clocks: tuple[Mapping, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        files.check_texts(**{f.name: getattr(self, f.name) for f in fields(self) if f.type == "str"})
        for name in ("versions", "sources"):
            if not isinstance(getattr(self, name), Mapping):
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must name texts, as in {{...}}")

    @property
    def kernels(self) -> tuple[str, ...]:
        """The labels, in the order of the rows."""
        return tuple(dict.fromkeys(row.kernel for row in self.rows))

    @property
    def sizes(self) -> tuple[tuple[int, int, int], ...]:
        """The sizes (M, N, K), in the order of the rows."""
        return tuple(dict.fromkeys(row.size for row in self.rows))

    @property
    def peak_tflops(self) -> float | None:
        """The device's FP32 peak by the catalogue; None for a GPU that is not in it."""
        from gemm_lab.hardware import gpus
        return gpus[self.device].peak_fp32_tflops if self.device in gpus else None

    def select(self, kernel=None, size: Size | Iterable[Size] | None = None) -> Measurements:
        """The rows of a kernel or label, or a list of them, and of a size N or (M, N, K), or a list of them."""
        labels = None if kernel is None else {label_of(k) for k in _several(kernel, (list, tuple, set))}
        sizes = None if size is None else {triple(s) for s in ([size] if _is_size(size) else size)}
        return replace(self, rows=tuple(row for row in self.rows if (labels is None or row.kernel in labels)
                                        and (sizes is None or row.size in sizes)))

    def row(self, kernel, M: int, N: int | None = None, K: int | None = None) -> Row:
        """The row of a kernel (or label) at M x N x K, or M x M x M; ValueError if it was not measured."""
        label, size = label_of(kernel), (M, M if N is None else N, M if K is None else K)
        for row in self.rows:
            if (row.kernel, row.size) == (label, size):
                return row
        raise ValueError(f"{label} at {size_text(size)} was not measured on {self.device}; kernels: "
                         f"{', '.join(self.kernels)}; sizes: {', '.join(map(size_text, self.sizes))}")

    def tflops(self, kernel, M: int, N: int | None = None, K: int | None = None) -> float:
        """TFLOPS of a kernel (or label) at a size; ValueError if it was not measured."""
        return self.row(kernel, M, N, K).tflops

    def stale(self, kernels: Iterable) -> tuple[str, ...]:
        """The labels among `kernels` whose source has changed since it was measured."""
        return tuple(k.label for k in kernels
                     if k.label in self.sources and self.sources[k.label] != source_hash(k.source))

    def save(self, path: str | Path) -> Path:
        """Write the record as JSON and return its path; ValueError where that file cannot be written."""
        content = {f.name: getattr(self, f.name) for f in fields(self)}
        return files.write(path, "bench", content | {"rows": [asdict(row) for row in self.rows]})

    def table(self) -> list[tuple[str, ...]]:
        """The rows as texts: size, kernel, ms, spread, TFLOPS, % of cuBLAS, % of peak."""
        peak = self.peak_tflops
        return [(size_text(r.size), r.kernel, f"{r.median_ms:.4g}", "" if r.spread_ms is None else f"{r.spread_ms:.2g}",
                 f"{r.tflops:.2f}", "" if r.percent_of_cublas is None else f"{r.percent_of_cublas:.1f}",
                 "" if peak is None else f"{100 * r.tflops / peak:.1f}") for r in self.rows]

    def __repr__(self) -> str:
        return f"Measurements({self.device}, {self.date}: {len(self.kernels)} kernels, {len(self.sizes)} sizes)"

    def __str__(self) -> str:
        lines = [HEAD, *self.table()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = [[word.rjust(width) for word, width in zip(line, widths, strict=True)] for line in lines]
        return "\n".join([self._title(), *map("  ".join, aligned)])

    def _repr_html_(self) -> str:
        return html_table(HEAD, self.table(), self._title())

    def _title(self) -> str:
        return f"{self.device}, driver {self.driver}, measured on {self.date}"


def joined(parts: Iterable[Measurements]) -> Measurements:
    """Several measurements of one device as one; where a row occurs twice, the first counts."""
    first, *others = parts
    for other in others:
        if (other.device, other.driver) != (first.device, first.driver):
            raise ValueError(f"measurements of {other.device} (driver {other.driver}) do not join those of "
                             f"{first.device} (driver {first.driver})")
        known = {(row.kernel, row.size) for row in first.rows}
        rows = first.rows + tuple(row for row in other.rows if (row.kernel, row.size) not in known)
        dates = sorted({*first.date.split(" and "), *other.date.split(" and ")})
        first = replace(first, rows=rows, clocks=first.clocks + other.clocks, date=" and ".join(dates),
                        sources={**other.sources, **first.sources})
    return first


def load(path: str | Path) -> Measurements:
    """Read a record of timings; ValueError if it is none."""
    record = files.read(path, "bench")
    try:
        rows = tuple(Row(**row) for row in record.pop("rows"))
        return Measurements(rows=rows, clocks=tuple(record.pop("clocks", ())), **record)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} is not a record of timings: {error}") from None


def recorded(device: str = "H200", experiment: str = "bench") -> Measurements:
    """Timings that ship with the course: "bench", every kernel over size, or "law", many variants at one size.

    Raises ValueError for a device or an experiment that does not ship, naming those that do.
    """
    return load(files.shipped(experiment, device))


def label_of(kernel) -> str:
    """The label of a kernel, or the label itself."""
    return kernel if isinstance(kernel, str) else checked_kernel(kernel).label


def triple(size: Size) -> tuple[int, int, int]:
    """A size as (M, N, K): a whole number means a square problem. ValueError for anything else."""
    sizes = tuple(size) if isinstance(size, tuple | list) else (size,) * 3
    whole = [isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 1 for n in sizes]
    if len(sizes) != 3 or not all(whole):
        raise ValueError(f"size {size!r} is neither a whole number N nor (M, N, K), each 1 or more")
    return tuple(int(n) for n in sizes)


def size_text(size: tuple[int, int, int]) -> str:
    """"4096" for a square problem, else "130x67x45"."""
    return str(size[0]) if len(set(size)) == 1 else "x".join(map(str, size))


def _is_size(size) -> bool:
    return not isinstance(size, Iterable) or isinstance(size, tuple)


def _several(thing, kinds) -> Iterable:
    return thing if isinstance(thing, kinds) else [thing]
