"""Inside the GPU's process: how kernels are timed. `benchmark.PROTOCOL` says the same in words, for every record."""

from __future__ import annotations

import math
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

import cupy
import numpy as np

from gemm_lab.gpu import launching, smi
from gemm_lab.gpu.cublas import LABEL as CUBLAS
from gemm_lab.gpu.cublas import Cublas
from gemm_lab.gpu.job import Job

STEP_SECONDS = 120.0        # longer than this, a launch counts as endless
WARM_SECONDS = 0.2          # how long each kernel warms up
SHORT_SECONDS = 1e-3        # launches shorter than this are timed by the graph, so that launching costs nothing
FEWEST, MOST = 5, 200       # samples of a kernel
MOST_SETS = 256
UNIT_ROUNDOFF = 2.0**-24    # of float32


def measure(jobs: list[Job], M: int, N: int, K: int, seconds: float) -> Iterator[tuple]:
    """The task "measure": verify and time kernels and cuBLAS on C (M, N) = A (M, K) * B (K, N).

    Yields ("progress", fraction) and at last ("result", {"samples": {label: [ms of one launch]}, "launches": {label:
    launches in one sample}, "sets": buffer sets, "clock": {...}, "cublas": version}). Each kernel is timed for about
    `seconds`. Raises ValueError for a kernel with wrong values, GpuError for one that fails or does not end.
    """
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream, closing(Cublas(stream)) as cublas:
        yield from _measure(jobs, (M, N, K), seconds, stream, cublas)
    pool.free_all_blocks()


def _measure(jobs: list[Job], size: tuple[int, int, int], seconds: float, stream, cublas: Cublas) -> Iterator[tuple]:
    sets = buffer_sets(*size, l2_bytes())
    contestants = [Contestant(CUBLAS, lambda i: cublas.sgemm(*sets[i])), *(contestant(job, sets) for job in jobs)]
    verify(contestants, sets[0])
    for each in contestants:
        warm_up(each, len(sets))
    for each in contestants:
        prepare(each, len(sets), seconds, stream)
    yield from take_samples(contestants, len(sets))
    yield "result", {"samples": {each.label: each.samples for each in contestants},
                     "launches": {each.label: each.launches for each in contestants},
                     "sets": len(sets), "clock": clock_under_load(contestants[0]), "cublas": cublas.version}


@dataclass
class Contestant:
    """A kernel, or cuBLAS, on its way through the protocol. `launch(i)` queues one launch on buffer set i."""

    label: str
    launch: Callable[[int], None]
    seconds: float = math.inf                   # of one launch, roughly
    launches: int = 1                           # in one sample
    quota: int = FEWEST                         # how many samples to take
    sample: Callable[[int], None] | None = None    # queue one sample
    samples: list[float] = field(default_factory=list)    # ms of one launch


def contestant(job: Job, sets: list[tuple]) -> Contestant:
    """A kernel of the course, with its arguments for each buffer set at hand."""
    function = launching.load(job)
    values = [launching.arguments(*buffers) for buffers in sets]
    return Contestant(job.label, lambda i: launching.launch(function, job, values[i]))


def l2_bytes() -> int:
    return cupy.cuda.runtime.getDeviceProperties(0)["l2CacheSize"]


# --- buffers

def sets_needed(M: int, N: int, K: int, l2: int) -> int:
    """How many sets of A, B, C take at least twice the L2 cache: by the time a set comes round again, it is gone."""
    return min(MOST_SETS, -(-2 * l2 // set_bytes(M, N, K)))


def set_bytes(M: int, N: int, K: int) -> int:
    return 4 * (M * K + K * N + M * N)


def buffer_sets(M: int, N: int, K: int, l2: int) -> list[tuple]:
    """(A, B, C) as often as needed: standard normal random A and B; C is NaN until somebody writes it."""
    count = sets_needed(M, N, K, l2)
    needed = count * set_bytes(M, N, K) + 12 * (M * K + K * N + M * N)    # verification works in float64
    free = cupy.cuda.runtime.memGetInfo()[0]
    if needed > free:
        raise ValueError(f"{M}x{N}x{K} needs about {needed / 2**30:.1f} GiB on the GPU, where {free / 2**30:.1f} GiB "
                         "are free: choose a smaller size")
    numbers = np.random.default_rng([M, N, K])
    return [(cupy.asarray(numbers.standard_normal((M, K), np.float32)),
             cupy.asarray(numbers.standard_normal((K, N), np.float32)),
             cupy.full((M, N), np.nan, np.float32)) for _ in range(count)]


# --- verification

def tolerance(K: int) -> float:
    """The largest error that a right kernel may make on standard normal inputs: u * (8K + 64), u = 2^-24.

    Adding K products of standard normal numbers one by one, the partial sum after k of them has size sqrt(k), and a
    rounding errs by at most u times that, in either direction (Higham, Accuracy and Stability of Numerical Algorithms,
    section 2.8). The squares of K such errors add up to (u*K)^2 / 2 at most, so an element errs by 0.4*u*K or less, and
    the worst of 10^9 elements by 7 times that. 64u covers short sums, in which single products of up to 30 count.
    A forgotten product changes an element by about 0.8, and TF32 errs by more than 2^-13*sqrt(K): both are found.
    """
    return UNIT_ROUNDOFF * (8 * K + 64)


def verify(contestants: list[Contestant], buffers: tuple) -> None:
    """Compare each contestant's C with the product in float64; ValueError for one that is wrong anywhere."""
    a, b, c = buffers
    want = cupy.matmul(a.astype(np.float64), b.astype(np.float64))
    for each in contestants:
        c.fill(np.nan)
        each.launch(0)
        wait(each.label)
        check(each.label, c, want, a.shape[1])


def check(label: str, got, want, K: int) -> None:
    """ValueError unless every element of `got` is within the tolerance of `want`; NaN never is."""
    error = cupy.abs(got - want)
    bad = ~(error <= tolerance(K))
    if not bool(bad.any()):
        return
    (M, N), first = got.shape, int(bad.argmax())
    raise ValueError(f"{label} is wrong at {M}x{N}x{K} and was not timed: {int(bad.sum())} of {M * N} elements; the "
                     f"first is C[{first // N}, {first % N}] = {float(got.ravel()[first]):.7g}, in float64 "
                     f"{float(want.ravel()[first]):.7g}; the worst error is {float(error.max()):.3g}, "
                     f"allowed is {tolerance(K):.3g}")


# --- timing

def warm_up(c: Contestant, sets: int) -> None:
    """Launch for WARM_SECONDS, and learn from it how long one launch takes."""
    begin = time.monotonic()
    count = 1
    while True:
        c.seconds = timed(lambda n=count: [c.launch(i % sets) for i in range(n)], c.label) / count
        if time.monotonic() - begin > WARM_SECONDS:
            return
        count = max(1, min(1000, math.ceil(WARM_SECONDS / 4 / c.seconds)))


def prepare(c: Contestant, sets: int, seconds: float, stream) -> None:
    """Decide what one sample is, and how many to take."""
    c.launches = launches_per_sample(c.seconds, sets)
    if c.launches > 1:
        stream.begin_capture()
        try:
            for i in range(c.launches):
                c.launch(i % sets)
        finally:
            graph = stream.end_capture()
        c.sample = lambda _: graph.launch(stream)
        c.seconds = timed(lambda: graph.launch(stream), c.label) / c.launches
    else:
        c.sample = lambda i: c.launch(i % sets)
    c.quota = sample_count(c.seconds * c.launches, seconds)


def launches_per_sample(seconds: float, sets: int) -> int:
    """1 for a long kernel; else so many that they take SHORT_SECONDS, and go through the buffer sets whole times."""
    if seconds >= SHORT_SECONDS:
        return 1
    rounds = math.ceil(SHORT_SECONDS / seconds / sets)
    return max(2, rounds * sets)


def sample_count(sample_seconds: float, seconds: float) -> int:
    """As many samples as fit into `seconds`, within FEWEST and MOST."""
    return max(FEWEST, min(MOST, round(seconds / sample_seconds)))


def take_samples(contestants: list[Contestant], sets: int) -> Iterator[tuple]:
    """Rounds in which everybody gives one sample, in random order, so that clock and temperature treat all alike.

    A slow kernel has fewer samples to give and stays out of the later rounds; cuBLAS takes part in all of them.
    """
    shuffle = random.Random(0).shuffle
    rounds = max(c.quota for c in contestants)
    contestants[0].quota = rounds
    for number in range(rounds):
        order = [c for c in contestants if number < c.quota]
        shuffle(order)
        marks = [queue_sample(c, number) for c in order]
        wait("the last kernel")
        for c, (begin, end) in zip(order, marks, strict=True):
            c.samples.append(cupy.cuda.get_elapsed_time(begin, end) / c.launches)
        yield "progress", (number + 1) / rounds


def queue_sample(c: Contestant, number: int) -> tuple:
    """Queue one sample between two events."""
    begin = launching.mark()
    c.sample(number)
    return begin, launching.mark()


def timed(action: Callable[[], object], label: str) -> float:
    """Seconds between two events around what `action` queues."""
    begin = launching.mark()
    action()
    end = launching.mark()
    launching.wait(end, STEP_SECONDS, label)
    return max(1e-7, cupy.cuda.get_elapsed_time(begin, end) / 1000)


def wait(label: str) -> None:
    """Wait for all that was queued on the current stream."""
    launching.wait(launching.mark(), STEP_SECONDS, label)


def clock_under_load(c: Contestant) -> dict[str, float]:
    """SM clock (MHz), power (W) and temperature (degrees C) while `c` runs; {} where nvidia-smi does not tell."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    try:
        asking = subprocess.Popen(smi.command(*smi.CLOCK.values()), **quiet)
    except OSError:
        return {}
    deadline = time.monotonic() + 10
    while asking.poll() is None:
        if time.monotonic() > deadline:
            asking.kill()
        c.sample(0)
        wait(c.label)
    return smi.clock(asking.stdout.read(), cupy.cuda.Device().pci_bus_id)
