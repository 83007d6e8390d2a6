"""Time kernels against cuBLAS on the GPU of this machine."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

from gemm_lab import gpu
from gemm_lab.arguments import checked_kernels
from gemm_lab.kernels import GemmKernel, Naive, RegisterTiling1D, SharedTiling
from gemm_lab.records import CUBLAS, Measurements, Row, Size, load, record_name, source_hash, triple

__all__ = ["Measurements", "PROTOCOL", "Row", "benchmark", "course_kernels", "load"]

SIZES = (256, 512, 1024, 2048, 4096)
SECONDS = 0.4    # how long each kernel is timed at each size, warm-up and verification not counted

PROTOCOL = (
    "Every kernel and cuBLAS are verified against float64 before they are timed; one with wrong values is not timed. "
    "Inputs: standard normal random float32; alpha = 1, beta = 0. Launches rotate among sets of buffers that together "
    "take at least twice the L2 cache, so that small problems start with a cold L2, too. Warm-up: 0.2 s per kernel. "
    "A sample is the time between two CUDA events, around one launch if that takes 1 ms or more, else around the "
    "replay of a CUDA graph that takes at least 1 ms and goes through all buffer sets, divided by its launches. "
    "Samples of all kernels and cuBLAS are interleaved in random order, 5 to 200 of each; median and inter-quartile "
    "range. "
    "cuBLAS: cublasSgemm, default math mode, TF32 off. Clocks as found; the SM clock is read while cuBLAS runs.")


def course_kernels() -> list[GemmKernel]:
    """The kernels of the lessons, in their order: what `gemm-lab bench` and the shipped record measure."""
    return [Naive(coalesced=False), Naive(), SharedTiling(TILE=16), SharedTiling(TILE=32), SharedTiling(TILE=32, PAD=1),
            RegisterTiling1D(BM=64, BN=64, BK=8, TM=8, strided_loader=True), RegisterTiling1D(BM=64, BN=64, BK=8, TM=8),
            RegisterTiling1D(BM=64, BN=64, BK=32, TM=8), RegisterTiling1D(BM=64, BN=64, BK=32, TM=16)]


def benchmark(kernels, sizes: Size | Iterable[Size] = SIZES, *, seconds: float = SECONDS,
              progress: bool = True) -> Measurements:
    """Time kernels and cuBLAS (always in the same run) on every size; `PROTOCOL` says how.

    kernels   one kernel or several; their labels must differ
    sizes     several, each N for C (N, N) = A (N, N) * B (N, N) or (M, N, K); or a single N
    seconds   how long each kernel is timed at each size; slow kernels take longer, since 5 samples are the fewest

    Raises ValueError for bad arguments and for a kernel whose values are wrong (its label, the size and the error),
    CompileError, NoGpu without a GPU (recorded results need none: gl.recorded("H200")), GpuError where a kernel fails.
    """
    kernels, sizes = _checked_kernels(kernels), several_sizes(sizes)
    if not isinstance(seconds, int | float) or not 0 < seconds <= 60:
        raise ValueError(f"seconds is {seconds!r}; it must be a number above 0 and at most 60")
    for kernel in kernels:
        for M, N, _ in sizes:
            kernel.launch_grid(M, N)
    device = _device()
    plan = [(size, [gpu.Job.of(kernel, *size[:2], device.arch) for kernel in kernels]) for size in sizes]
    results = _measured(plan, seconds, progress)
    return Measurements(
        rows=tuple(row for size, result in results for row in rows_of(size, result)), device=device.name,
        driver=device.driver, date=datetime.date.today().isoformat(), compute_capability=device.compute_capability,
        versions=_versions(device) | {"cuBLAS": results[0][1]["cublas"]}, protocol=PROTOCOL,
        clocks=tuple({"size": size, "buffer_sets": result["sets"]} | result["clock"] for size, result in results),
        sources={kernel.label: source_hash(kernel.source) for kernel in kernels})


def rows_of(size: tuple[int, int, int], result: dict) -> list[Row]:
    """The rows of one size, cuBLAS last, from what `gpu.measure` returns."""
    samples, launches = result["samples"], result["launches"]
    cublas = Row.of(CUBLAS, size, samples[CUBLAS], 1.0, launches[CUBLAS]).median_ms
    labels = [label for label in samples if label != CUBLAS] + [CUBLAS]
    return [Row.of(label, size, samples[label], cublas, launches[label]) for label in labels]


def _measured(plan: list, seconds: float, progress: bool) -> list[tuple]:
    results = []
    with _bar(len(plan)) if progress else nullcontext() as bar:
        for number, (size, jobs) in enumerate(plan):
            def show(fraction: float, number=number) -> None:
                bar.n = round(number + fraction, 2)
                bar.refresh()
            results.append((size, gpu.measure(jobs, *size, seconds, progress=show if bar else None)))
    return results


def _bar(total: int):
    from tqdm import tqdm
    return tqdm(total=total, unit="size", leave=False, desc="timing",
                bar_format="{desc}: {percentage:3.0f}% |{bar}| {elapsed} < {remaining}")


def _checked_kernels(kernels) -> list[GemmKernel]:
    several = checked_kernels(kernels)
    labels = [kernel.label for kernel in several]
    if doubled := sorted({label for label in labels if labels.count(label) > 1}):
        raise ValueError(f"two kernels are called {doubled[0]!r}; give one a label of its own")
    if CUBLAS in labels:
        raise ValueError(f"a kernel cannot be called {CUBLAS!r}; that is the library, which is always measured")
    return several


def several_sizes(sizes) -> list[tuple[int, int, int]]:
    """One size or several, each N or (M, N, K), as a list without repetitions; ValueError if there is none."""
    single = not isinstance(sizes, Iterable) or isinstance(sizes, str)
    several = list(dict.fromkeys(triple(size) for size in ([sizes] if single else sizes)))
    if not several:
        raise ValueError("no sizes to time; give one, such as 1024 or (130, 67, 45), or a list")
    return several


def _device() -> gpu.Device:
    try:
        return gpu.device()
    except gpu.NoGpu as error:
        raise gpu.NoGpu(f'{error} Recorded timings: gl.recorded("H200")') from None


def _versions(device: gpu.Device) -> dict[str, str]:
    from gemm_lab.status import compiler
    return {"CUDA of the driver": device.driver_cuda, "CUDA of CuPy": device.runtime, "CuPy": device.cupy,
            "NVRTC": compiler()[0] or "unknown"}


# --- the command `gemm-lab bench`

def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gemm-lab bench`."""
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), type=_size_argument, metavar="N|MxNxK",
                        help=f"sizes, such as 1024 or 130x67x45 (default: {' '.join(map(str, SIZES))})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="per kernel and size (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="file for the record (default: bench_DEVICE.json in this folder)")


def bench_command(options: argparse.Namespace) -> int:
    """`gemm-lab bench`: time the course's kernels, print the table, write the record."""
    measurements = benchmark(course_kernels(), options.sizes, seconds=options.seconds)
    print(measurements)
    path = measurements.save(options.out or record_name("bench", measurements.device))
    print(f"record written to {path}")
    return 0


def _size_argument(text: str) -> Size:
    try:
        numbers = [int(word) for word in text.lower().split("x")]
        return triple(numbers[0] if len(numbers) == 1 else tuple(numbers))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither N nor MxNxK, in whole numbers from 1") from None
