"""Wavefronts of shared-memory accesses on one GPU, by hardware counters: the evidence for `gemm_lab.shared_wavefronts`.

    python benchmarks/shared_wavefronts.py OUT [SECONDS]        OUT/shared_patterns_h200.json, continued if it is there

One warp loads and then stores where a *pattern* says: an element for each lane, or none for a lane that takes no part.
One kernel for each width serves all patterns, since it reads them from memory. Patterns whose structure speaks for or
against a rule stand beside random ones, which speak against every wrong rule. ncu profiles one launch for each pattern;
after SECONDS (default 60) no further group of patterns is started.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import counters  # noqa: E402  (run as a script, this file finds the checkout beside it)
from gemm_lab import gpu  # noqa: E402
from gemm_lab.compiler import compile_kernel  # noqa: E402
from gemm_lab.records import files  # noqa: E402

REPEATS = 4           # a counter that is no multiple of it would show noise
MEMORY = 16384        # bytes of shared memory
WIDTHS = (4, 8, 16, 2, 1)
GROUP = 300           # patterns in one profiled process

PROTOCOL = (f"ncu --clock-control none; one warp, {REPEATS} loads and then {REPEATS} stores of one pattern, counters "
            f"divided by {REPEATS}; lanes: which element (of so many bytes) each lane accesses, - for a lane without")
NAMES = {  # column of the record -> ncu's metric
    "load": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "store_instructions": "smsp__inst_executed_op_shared_st.sum"}

# Volatile inline PTX: each access stays one instruction of its own width, and a store waits for the loads before it.
ACCESSES = {
    1: ("ld.volatile.shared.u8 %0, [%4];", "st.volatile.shared.u8 [%4], %0;"),
    2: ("ld.volatile.shared.u16 %0, [%4];", "st.volatile.shared.u16 [%4], %0;"),
    4: ("ld.volatile.shared.u32 %0, [%4];", "st.volatile.shared.u32 [%4], %0;"),
    8: ("ld.volatile.shared.v2.u32 {%0, %1}, [%4];", "st.volatile.shared.v2.u32 [%4], {%0, %1};"),
    16: ("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];", "st.volatile.shared.v4.u32 [%4], {%0, %1, %2, %3};")}

SOURCE = """
extern "C" __global__ void access(const int *addresses) {
    __shared__ __align__(128) unsigned char memory[%d];
    const int address = addresses[threadIdx.x];
    if (address < 0) return;
    const unsigned at = (unsigned)__cvta_generic_to_shared(memory + address);
    unsigned x = 0, y = 0, z = 0, w = 0;
#pragma unroll
    for (int n = 0; n < %d; ++n) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        asm volatile("%s" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(at) : "memory");
        x += a, y += b, z += c, w += d;     // a load whose result is not used disappears, volatile or not
    }
#pragma unroll
    for (int n = 0; n < %d; ++n) asm volatile("%s" :: "r"(x), "r"(y), "r"(z), "r"(w), "r"(at) : "memory");
}
"""


def source(width: int) -> str:
    """The kernel for accesses of `width` bytes."""
    load, store = ACCESSES[width]
    return SOURCE % (MEMORY, REPEATS, load, REPEATS, store)


def job(width: int, arch: str = "sm_90") -> gpu.Job:
    """That kernel, one block of one warp, ready to launch."""
    compiled = compile_kernel(source(width), "access", arch)
    return gpu.Job(f"{8 * width} bits", compiled.cubin, compiled.entry, (1, 1, 1), (32, 1, 1), 0, source(width),
                   "access")


# --- patterns

LANES = np.arange(32)
NOBODY = -1


@dataclass(frozen=True)
class Pattern:
    """One access: the element (of `width` bytes) for each lane, or NOBODY."""

    width: int
    name: str
    elements: tuple[int, ...]

    @property
    def addresses(self) -> np.ndarray:
        """Bytes from the start of shared memory; NOBODY for lanes that take no part."""
        elements = np.array(self.elements)
        return np.where(elements < 0, NOBODY, elements * self.width).astype(np.int32)

    @property
    def lanes(self) -> str:
        """The elements as the record holds them: "0 3 6 -"."""
        return " ".join("-" if e < 0 else str(e) for e in self.elements)


def plan() -> list[Pattern]:
    """Every pattern once, in a random order: a run that is cut short has some of each kind."""
    found = {}
    for width in WIDTHS:
        every = list(structured()) + list(random_patterns(np.random.default_rng(width)))
        for name, elements in every if width >= 4 else every[::6]:
            elements = tuple(int(e) for e in elements)
            assert max(elements) >= 0 and max(elements) * width + width <= MEMORY, name
            found.setdefault((width, elements), Pattern(width, name, elements))
    patterns = list(found.values())
    return [patterns[n] for n in np.random.default_rng(0).permutation(len(patterns))]


def structured() -> Iterator[tuple[str, np.ndarray]]:
    """Broadcasts, rows, strides, lanes that share elements in every regular way, partial warps."""
    for start in (0, 1, 3, 7, 31):
        yield f"broadcast of element {start}", np.full(32, start)
        yield f"row from {start}", LANES + start
        yield f"row of 16 from {start}, twice", LANES % 16 + start
    for stride in range(2, 34):
        yield f"stride {stride}", LANES * stride
    for bits in range(32):
        shared = np.unique(LANES & bits, return_inverse=True)[1]
        yield f"lane & {bits}, neighbours", shared
        yield f"lane & {bits}, one bank", shared * 32
        yield f"lane & {bits}, spread", shared * 5 % 64
    for bits in (30, 29, 27, 23, 15, 28, 16, 0):
        shared = np.unique(LANES & bits, return_inverse=True)[1]
        for lane in (0, 5, 18, 31):
            yield f"lane & {bits}, but lane {lane} elsewhere", np.where(lane == LANES, 40, shared)
            yield f"lane & {bits}, without lane {lane}", np.where(lane == LANES, NOBODY, shared)
    for n in range(1, 32):
        yield f"row, first {n} lanes", np.where(n > LANES, LANES, NOBODY)
        yield f"broadcast, first {n} lanes", np.where(n > LANES, 0, NOBODY)
    for bit in (1, 2, 4, 8, 16):
        for name, active in (("with", LANES & bit > 0), ("without", LANES & bit == 0)):
            yield f"row, lanes {name} bit {bit}", np.where(active, LANES, NOBODY)
            yield f"stride 17, lanes {name} bit {bit}", np.where(active, LANES * 17, NOBODY)
    for lane in (0, 1, 7, 8, 16, 31):
        yield f"lane {lane} alone", np.where(lane == LANES, 9, NOBODY)
    some = {"first 8": LANES < 8, "first 12": LANES < 12, "first 16": LANES < 16, "first 24": LANES < 24,
            "last 16": LANES >= 16, "every other": LANES % 2 == 0, "8 to 23": (LANES >= 8) & (LANES < 24)}
    for name, active in some.items():
        for bits in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 19, 24, 28, 30):
            shared = np.unique(LANES & bits, return_inverse=True)[1]
            yield f"lane & {bits}, {name} lanes", np.where(active, shared, NOBODY)


def random_patterns(rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Random elements, random lanes, and random elements shared by lanes that differ in chosen bits."""
    for seed in range(10):
        yield f"permutation {seed}", rng.permutation(32)
    for n in (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 512):
        for seed in range(4):
            yield f"random of {n}, {seed}", rng.integers(n, size=32)
        for percent in (10, 30, 50, 80, 95):
            yield f"random of {n}, {percent} % of the lanes", thinned(rng, rng.integers(n, size=32), percent)
    for xor in (1, 2, 3, 4, 5, 8, 16, 24):
        for n in (3, 8, 16, 64, 512):
            paired = rng.integers(n, size=32)[np.minimum(LANES, LANES ^ xor)]
            yield f"pairs ^{xor} of {n}", paired
            yield f"pairs ^{xor} of {n}, some lanes", thinned(rng, paired, 85)
            yield f"pairs ^{xor} of {n}, few lanes", thinned(rng, paired, 40)
            yield f"pairs ^{xor} of {n}, one lane apart", np.where(LANES == rng.integers(32), n, paired)
    for group, count in ((16, 24), (8, 24), (4, 12)):
        for seed in range(count):
            choice = np.repeat(rng.choice([0, 1, 2, 1, 2, 4], size=32 // group), group)
            n = int(rng.choice([8, 16, 32, 64, 512]))
            yield f"pairs chosen by {group} lanes, {seed}", rng.integers(n, size=32)[np.minimum(LANES, LANES ^ choice)]


def thinned(rng: np.random.Generator, elements: np.ndarray, percent: int) -> np.ndarray:
    """The pattern with about so many of its lanes active, at least one."""
    active = rng.random(32) * 100 < percent
    active[rng.integers(32)] = True
    return np.where(active, elements, NOBODY)


# --- measuring

def measure(patterns: list[Pattern], timeout: float = 120) -> list[dict]:
    """Record rows of the patterns, profiled in one process. NoCounters where ncu fails or a counter is not clean."""
    with tempfile.TemporaryDirectory() as folder:
        arch, todo = gpu.device().arch, Path(folder) / "plan"
        todo.write_bytes(pickle.dumps([(job(p.width, arch), p.addresses) for p in patterns]))
        text = counters.profile([sys.executable, str(Path(__file__).resolve()), "--launch", str(todo)],
                                NAMES.values(), Path(folder), timeout, "--cache-control", "none")
    launches = counters.parsed(text, NAMES.values(), len(patterns))
    return [row(pattern, values) for pattern, (_, values) in zip(patterns, launches, strict=True)]


def row(pattern: Pattern, values: dict) -> dict:
    """One row of the record: the counters of one access."""
    counts = {name: values[metric] / REPEATS for name, metric in NAMES.items()}
    if any(not count.is_integer() for count in counts.values()):
        print(f"NOISE: {pattern.name}, {pattern.width} bytes: {counts}", flush=True)
    counts = {name: int(count) if count.is_integer() else count for name, count in counts.items()}
    if (counts.pop("load_instructions"), counts.pop("store_instructions")) != (1, 1):
        print(f"NOT ONE LOAD AND ONE STORE: {pattern.name}, {pattern.width} bytes: {values}", flush=True)
    return {"bytes": pattern.width, "pattern": pattern.name, "lanes": pattern.lanes} | counts


def launch(path: str) -> None:
    """The profiled process: one launch for each pattern, in order."""
    import cupy

    from gemm_lab.gpu import launching
    with open(path, "rb") as file:
        todo = pickle.load(file)
    table = cupy.asarray(np.stack([addresses for _, addresses in todo]))
    for (one, _), addresses in zip(todo, table, strict=True):
        launching.launch(launching.load(one), one, (addresses,))
    cupy.cuda.runtime.deviceSynchronize()


def main(out: Path, seconds: float) -> int:
    """Measure as many patterns as there is time for and write the record."""
    start, path = time.monotonic(), out / files.record_name("shared_patterns", gpu.device().name)
    rows = files.read(path, "shared-patterns")["rows"] if path.is_file() else []
    known = {(row["bytes"], row["lanes"]) for row in rows}
    todo = [pattern for pattern in plan() if (pattern.width, pattern.lanes) not in known]
    for first in range(0, len(todo), GROUP):
        if time.monotonic() - start > seconds:
            break
        rows += measure(todo[first:first + GROUP])
        content = counters.about(list(NAMES.values()), []) | {"protocol": PROTOCOL, "rows": sorted(
            rows, key=lambda row: (row["bytes"], row["pattern"]))}
        files.write(path, "shared-patterns", content)
        print(f"[{time.monotonic() - start:5.1f} s] {len(rows)} patterns, {len(known) + len(todo) - len(rows)} to go",
              flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        launch(sys.argv[2])
    elif len(sys.argv) in (2, 3):
        sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) == 3 else 60))
    else:
        sys.exit(__doc__)
