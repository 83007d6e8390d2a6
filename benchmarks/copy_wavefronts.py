"""What asynchronous copies cost on one GPU, by hardware counters: the evidence for `gemm_lab.copy_wavefronts`.

    python -m benchmarks.copy_wavefronts OUT        OUT/copy_patterns_h200.json. Two minutes on an H200

One warp executes one cp.async as a *pattern* says: where each lane reads in global memory and where it writes in shared
memory, in elements of the copy's width; which lanes take part, and which bring nothing but zeros. ncu profiles one
launch for each pattern, with cold caches.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import counters
from gemm_lab import gpu
from gemm_lab.compiler import compile_kernel
from gemm_lab.counts import SECTOR_BYTES, WARP
from gemm_lab.records import files

MEMORY = 32768        # bytes of shared memory; patterns that reach farther begin again
GROUP = 250           # patterns in one profiled process
LANES = np.arange(WARP)
NOBODY = -1
WAYS = {(4, "ca"): 2, (8, "ca"): 4, (16, "ca"): 4, (16, "cg"): 2}    # and that each n-th pattern is measured

PROTOCOL = ("ncu --clock-control none, caches flushed; one warp, one cp.async. source, target: which element (of so "
            "many bytes) each lane reads and writes, - for a lane without; zeros: lanes that copy 0 bytes, "
            "by a register; wavefronts, conflicts: of LDGSTS; pipe: wavefronts of shared memory in the pipe, of which "
            "4 are not the copy's; sectors: of global loads, those of the pattern itself taken off")
NAMES = {  # column of the record -> ncu's metric
    "wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "conflicts": "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    "pipe": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}

SOURCE = """
extern "C" __global__ void copy(const int *from, const int *to, const int *size, const char *data) {
    __shared__ __align__(128) unsigned char memory[%d];
    const int f = from[threadIdx.x], t = to[threadIdx.x], s = size[threadIdx.x];
    if (f < 0) return;
    const unsigned at = (unsigned)__cvta_generic_to_shared(memory + t);
    asm volatile("cp.async.%s.shared.global [%%0], [%%1], %d%s;" :: "r"(at), "l"(data + f), "r"(s) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
}
"""


@dataclass(frozen=True)
class Pattern:
    """One copy: the elements that the lanes read and write, NOBODY for a lane that takes no part."""

    bytes: int
    way: str              # "ca" or "cg"
    name: str
    source: tuple[int, ...]
    target: tuple[int, ...]
    zeros: tuple[bool, ...]

    def arrays(self) -> np.ndarray:
        """(3, 32): bytes from where to read, bytes from where to write, bytes to copy."""
        source, target = np.array(self.source), np.array(self.target)
        return np.array([np.where(source < 0, NOBODY, source * self.bytes), target * self.bytes,
                         np.where(self.zeros, 0, self.bytes)], np.int32)

    @property
    def kernel(self) -> tuple[str, bool]:
        """Its source, and whether the copy says how much exists."""
        sized = any(self.zeros)
        return SOURCE % (MEMORY, self.way, self.bytes, ", %2" if sized else ""), sized


def plan() -> list[Pattern]:
    """What is measured, every pattern once."""
    found = {}
    for (bytes_, way), step in WAYS.items():
        every = [*structured(), *random_patterns(np.random.default_rng(bytes_)), *tiles(), *with_zeros()]
        for name, source, target, *zeros in every[::step]:
            source, target = np.broadcast_to(source, WARP), np.broadcast_to(target, WARP) % (MEMORY // bytes_)
            pattern = Pattern(bytes_, way, name, tuple(map(int, source)), tuple(map(int, target)),
                              tuple(map(bool, zeros[0] if zeros else LANES < 0)))
            found.setdefault((bytes_, way, pattern.source, pattern.target, pattern.zeros), pattern)
    return list(found.values())


def structured() -> Iterator[tuple]:
    """Rows, strides, rows of a tile, lanes that share an element, partial warps."""
    for n in (0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33):
        yield f"row, to +{n}", LANES, LANES + n
        yield f"row from +{n}", LANES + n, LANES
    for stride in (2, 3, 4, 5, 8, 9, 16, 17, 32, 33):
        yield f"row to stride {stride}", LANES, LANES * stride
        yield f"stride {stride} to row", LANES * stride, LANES
        yield f"stride {stride} to the same", LANES * stride, LANES * stride
    for width in (2, 4, 8, 16):
        for pitch in (32, 33, 36, 40, 48, 64, 68):
            tile = LANES // width * pitch + LANES % width
            yield f"rows of {width}, pitch {pitch}, to row", tile, LANES
            yield f"row to rows of {width}, pitch {pitch}", LANES, tile
            yield f"rows of {width}, pitch {pitch}, to pitch 20", tile, LANES // width * 20 + LANES % width
    for bits in (1, 4, 16, 31):
        yield f"row, lane ^ {bits}", LANES, LANES ^ bits
    yield "one element to row", 0 * LANES, LANES
    yield "row to one element", LANES, 0 * LANES
    for n in (1, 2, 3, 8, 9, 16, 20, 31):
        yield f"row of {n}", np.where(n > LANES, LANES, NOBODY), LANES
        yield f"row of {n}, to +5", np.where(n > LANES, LANES, NOBODY), LANES + 5
        yield f"row without {n}", np.where(n == LANES, NOBODY, LANES), LANES


def random_patterns(rng: np.random.Generator) -> Iterator[tuple]:
    """Random elements, pieces of rows at random places, lanes that meet in few banks."""
    for n in range(30):
        source, target = (rng.integers(rng.choice([8, 32, 64, 256, 1024]), size=WARP) for _ in range(2))
        some = rng.random(WARP) < (0.6 if n % 3 == 1 else 2)
        yield f"random {n}", np.where(some, source, NOBODY), target
        piece = np.searchsorted(np.sort(rng.integers(WARP, size=rng.integers(1, 6))), LANES, "right")
        yield f"pieces {n}", *(LANES + rng.integers(200, size=6)[piece] for _ in range(2))
        yield f"pieces of 8, {n}", *(LANES % 8 + 8 * rng.integers(30, size=4)[LANES // 8] for _ in range(2))
        yield f"bank groups, {n}", *(LANES % 8 + (32 * np.arange(4) + 8 * rng.integers(4, size=4))[LANES // 8]
                                     for _ in range(2))
        few = rng.permutation(WARP) < rng.integers(3, 7)
        source, target = (32 * LANES + rng.integers(3, size=WARP) for _ in range(2))
        yield f"few lanes, {n}", np.where(few, source, NOBODY), target


def tiles() -> Iterator[tuple]:
    """As GEMM kernels copy rows of A: transposed or not, with and without padding."""
    for K in (45, 50, 64, 100):
        for width in (4, 8, 16):
            for pitch in (32, 33, 36, 68):
                yield (f"{width} of {K} to columns of pitch {pitch}", LANES // width * K + LANES % width,
                       LANES % width * pitch + LANES // width)
            for pitch in (17, 20, 40):
                yield (f"{width} of {K} to rows of pitch {pitch}", LANES // width * K + LANES % width,
                       LANES // width * pitch + LANES % width)


def with_zeros() -> Iterator[tuple]:
    """Lanes that copy nothing write zeros."""
    rng = np.random.default_rng(5)
    ends = {"row": (LANES, LANES), "rows of 4 at 68": (LANES // 4 * 68 + LANES % 4, LANES),
            "rows of 8 at 19": (LANES // 8 * 19 + LANES % 8, LANES // 8 * 20 + LANES % 8),
            "rows of 2 at 16": (LANES // 2 * 16 + LANES % 2, LANES),
            "rows of 4 at 64 to columns": (LANES // 4 * 64 + LANES % 4, LANES % 4 * 36 + LANES // 4),
            "stride 8": (8 * LANES, LANES), "row to stride 4": (LANES, 4 * LANES), "one element": (0 * LANES, LANES)}
    for name, (source, target) in ends.items():
        for who, zeros in {"all": LANES >= 0, "last 8": LANES >= 24, "odd": LANES % 2 == 1, "lane 5": LANES == 5,
                           "last of 4": LANES % 4 == 3, "but lane 5": LANES != 5}.items():
            yield f"{name}, zeros {who}", source, target, zeros
    for n in range(6):
        source, target = (rng.permutation(64)[:WARP] for _ in range(2))
        yield f"random, random zeros {n}", source, target, rng.random(WARP) < 0.5


# --- measuring

def measure(patterns: list[Pattern]) -> list[dict]:
    """Record rows of the patterns, profiled in one process. NoCounters where ncu fails."""
    with tempfile.TemporaryDirectory() as folder:
        todo = Path(folder) / "plan"
        todo.write_bytes(pickle.dumps([(*p.kernel, p.arrays()) for p in patterns]))
        text = counters.profile([sys.executable, "-m", "benchmarks.copy_wavefronts", "--launch", str(todo)],
                                NAMES.values(), Path(folder), 200)
    launches = counters.parsed(text, NAMES.values(), len(patterns))
    return [row(pattern, values) for pattern, (_, values) in zip(patterns, launches, strict=True)]


def row(pattern: Pattern, values: dict) -> dict:
    """One row of the record. Lanes that take no part read nothing but where the others read."""
    counts = {name: int(values[metric]) for name, metric in NAMES.items()}
    active, indices = np.flatnonzero(np.array(pattern.source) >= 0), SECTOR_BYTES // 4
    counts["sectors"] -= WARP // indices + (1 + any(pattern.zeros)) * len(np.unique(active // indices))
    return {"bytes": pattern.bytes, "way": pattern.way, "pattern": pattern.name,
            "source": " ".join("-" if s < 0 else str(s) for s in pattern.source),
            "target": " ".join(map(str, pattern.target)),
            "zeros": " ".join(str(lane) for lane in np.flatnonzero(pattern.zeros))} | counts


def launch(path: str) -> None:
    """The profiled process: one launch for each pattern, in order."""
    import cupy
    todo = pickle.loads(Path(path).read_bytes())
    table, data, kernels = cupy.asarray(np.stack([arrays for *_, arrays in todo])), cupy.zeros(1 << 20, np.uint8), {}
    for (source, *_), arrays in zip(todo, table, strict=True):
        if source not in kernels:
            kernels[source] = cupy.cuda.function.Module()
            kernels[source].load(compile_kernel(source, "copy", gpu.device().arch).cubin)
        kernels[source].get_function("copy")((1,), (WARP,), (*arrays, data))
    cupy.cuda.runtime.deviceSynchronize()


def main(out: Path) -> Path:
    """Measure all patterns and write the record."""
    rows, patterns = [], plan()
    for first in range(0, len(patterns), GROUP):
        rows += measure(patterns[first:first + GROUP])
        print(f"{len(rows)} of {len(patterns)} patterns", flush=True)
    content = counters.about(list(NAMES.values()), []) | {"protocol": PROTOCOL, "rows": rows}
    return files.write(out / files.record_name("copy_patterns", gpu.device().name), "copy-patterns", content)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        launch(sys.argv[2])
    elif len(sys.argv) == 2:
        print(main(Path(sys.argv[1])))
    else:
        sys.exit(__doc__)
