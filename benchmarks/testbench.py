"""The hardware test-bench: what a GPU counted and computed, for `tests/test_testbench.py` to hold the emulator against.

    python -m benchmarks.testbench [OUT]        OUT/testbench_h200.json, by default among the records that ship

It takes about six minutes on an H200 (0.19 s a launch).

Many kernels, each at several sizes, are launched in two ways. Three times by Nsight Compute (ncu), in the machine code
that the course launches on this GPU: the record holds the counters. And once in the very PTX that the emulator
executes, which the driver assembles: the record holds a hash of C, so that every element can be compared.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import counters, kernel_files
from benchmarks.h200 import counted_kernels
from gemm_lab import checking, gpu
from gemm_lab.compiler import compile_ptx, nvrtc
from gemm_lab.kernels import GemmKernel
from gemm_lab.ladder import (
    PipelinedTiling1D,
    Pipelining,
    RegisterTiling2D,
    Reordering,
    SlicedK,
    SplitK,
    WarpTiling,
)
from gemm_lab.records import FFMA, files

HERE = Path(__file__).parent
CORPUS = HERE.parent / "tests" / "corpus" / "correct"

SCALARS = {  # (M, N, K) -> (alpha, beta)
    (64, 64, 64): (1.0, 0.0), (128, 128, 128): (0.75, -1.5), (130, 67, 45): (1.0, 0.0), (100, 70, 50): (0.75, -1.5),
    (33, 32, 32): (0.75, -1.5), (35, 79, 19): (1.0, 0.0)}
CORPUS_SIZE, CORPUS_SCALARS = (35, 37, 19), (0.75, -1.5)
LEFT_OUT = {"naive_printf",                # printf writes to a buffer in global memory
            # How often these ask, whether it is their turn or whether all have come, differs each time:
            "barrier_by_hand_in_a_block", "flag_in_shared_memory", "flag_within_block", "grid_barrier",
            "lock_in_shared_memory", "lock_of_lanes", "lock_with_fences", "parts_by_red_release", "ring_of_flags",
            "semaphore_with_votes", "shared_sum_by_cas", "split_k_cas_loop", "split_k_semaphore_passed_on",
            "split_k_turns"}

GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
SHARED = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"    # without what other warps do
IN_THE_PIPE = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"         # with it
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
COPIED_CONFLICTS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts_cache_access.sum"
EXECUTED = "smsp__sass_inst_executed_op_{}.sum"    # instructions in which a lane takes part

METRICS = {  # field of Counts -> ncu's metrics whose sum counts the same; cp.async (LDGSTS) has counters of its own
    "fma": [FFMA, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"],
    **{f"global_{action}_{count}": [GLOBAL.format(name, op)] for action, op in (("load", "ld"), ("store", "st"))
       for count, name in (("requests", "requests"), ("sectors", "sectors"), ("wavefronts", "output_wavefronts"))},
    "shared_load_requests": [EXECUTED.format("shared_ld")],
    "shared_store_requests": [EXECUTED.format("shared_st"),
                              *(EXECUTED.format(f"ldgsts_cache_{way}") for way in ("access", "bypass"))],
    "shared_load_wavefronts": [SHARED.format("ld")],
    "shared_store_wavefronts": [SHARED.format("st"), SHARED.format("ldgsts_cache_access")],    # past L1 they take none
    "shared_load_wavefronts_in_the_pipe": [IN_THE_PIPE.format("ld")],
    "shared_store_wavefronts_in_the_pipe": [IN_THE_PIPE.format("st")],
    "shared_load_bank_conflicts": [CONFLICTS.format("ld")],
    "shared_store_bank_conflicts": [CONFLICTS.format("st"), COPIED_CONFLICTS],
}
GROUP = 100           # launches in one profiled process, each of them
REPEATS = 3           # times, since not every count is the same each time

PROTOCOL = ("counters: ncu --clock-control none, a launch of the machine code for this GPU; varies: what more launches "
            "counted, where they did not all count the same; sha256: of the bytes of C "
            "after a launch of the PTX for compute_80; inputs: checking.inputs, rounded to whole numbers for kernels "
            "with atomics, which may add in an order that nobody fixed")


@dataclass(frozen=True)
class Launch:
    """One kernel at one size."""

    kernel: GemmKernel
    size: tuple[int, int, int]
    alpha: float
    beta: float

    @property
    def row(self) -> dict:
        """How the record names it."""
        return {"kernel": self.kernel.label, "source": files.source_hash(self.kernel.source),
                **dict(zip("MNK", self.size)), "alpha": self.alpha, "beta": self.beta}

    def inputs(self) -> list[np.ndarray]:
        """A, B and C; C is NaN where the kernel must not read it."""
        A, B, C = checking.inputs(checking.Problem(*self.size, self.alpha, self.beta))
        if re.search(r"atomic|\batom\.|\bred\.", self.kernel.source):    # may add in an order that nobody fixed
            A, B, C = (np.rint(3 * X) for X in (A, B, C))
        return [A, B, C if self.beta else np.full_like(C, np.nan)]


def later_kernels() -> list[GemmKernel]:
    """The kernels from 03b on, with small tiles."""
    return [PipelinedTiling1D(32, 32, 8, 16), RegisterTiling2D(64, 64, 8, 8, 8), RegisterTiling2D(16, 32, 8, 4, 8),
            WarpTiling(64, 64, 8, 8, 8), Pipelining(32, 64, 8, 4, 8), Reordering(32, 64, 16, 4, 8, ORDER=2, STRIP=2),
            SlicedK(32, 32, 16, 4, 4, SLICES=2), SplitK(32, 32, 16, 4, 4, SPLITS=2, BLOCKS=1, share=3)]


def plan() -> list[Launch]:
    """Everything that is launched: the course's kernels and those in `benchmarks/kernels` at all sizes, and each
    correct kernel of the tests' corpus once."""
    every = counted_kernels() + later_kernels() + kernel_files.folder(HERE / "kernels")
    launches = [Launch(kernel, size, *scalars) for size, scalars in SCALARS.items() for kernel in every]
    return launches + [launch for path in sorted(CORPUS.glob("*.cu")) if path.stem not in LEFT_OUT
                       for launch in corpus_launches(path)]


def corpus_launches(path: Path) -> Iterator[Launch]:
    """A kernel of the corpus, at the last of the sizes that its head allows."""
    for kernel in kernel_files.read(path, "corpus/"):
        shapes = kernel_files.head(kernel.source).get("shapes", f"{CORPUS_SIZE}")
        yield Launch(kernel, eval(f"[{shapes}]")[-1], *CORPUS_SCALARS)


def digest(C: np.ndarray) -> str:
    """SHA-256 of a matrix, every bit of every element."""
    return hashlib.sha256(np.ascontiguousarray(C).tobytes()).hexdigest()


# --- on the GPU

def values(launch: Launch) -> np.ndarray:
    """C as the GPU computes it from the PTX that is emulated."""
    import cupy

    from gemm_lab.gpu import launching
    ptx = compile_ptx(launch.kernel.source, launch.kernel.entry)
    module = cupy.cuda.function.Module()
    module.load(ptx.text.encode())
    a, b, c = (cupy.asarray(X) for X in launch.inputs())
    function = module.get_function(ptx.entry)
    function(launch.kernel.launch_grid(*c.shape), launch.kernel.block,
             launching.arguments(a, b, c, launch.alpha, launch.beta), shared_mem=launch.kernel.shared_bytes)
    return cupy.asnumpy(c)


def counted(launches: list[Launch], metrics: list[str]) -> list[dict]:
    """The counts of each launch by ncu, named as in METRICS; and what REPEATS launches counted, where that varies."""
    rows = counters.collect([(one.kernel, one.size, one.beta) for one in launches for _ in range(REPEATS)], metrics)
    counts = [counts_of(row.counters) for row in rows]
    return [compared(counts[first:first + REPEATS]) for first in range(0, len(counts), REPEATS)]


def compared(counts: list[dict[str, int]]) -> dict:
    """The first of several counts of one launch, and all numbers of those that are not the same each time."""
    varies = {name: numbers for name in counts[0] if len(set(numbers := [each[name] for each in counts])) > 1}
    return counts[0] | ({"varies": varies} if varies else {})


def counts_of(metrics: Mapping[str, int]) -> dict[str, int]:
    """The sums that METRICS asks for, of the metrics that there are."""
    known = {name: [metrics[metric] for metric in some if metric in metrics] for name, some in METRICS.items()}
    return {name: sum(numbers) for name, numbers in known.items() if numbers}


def measure(launches: list[Launch], metrics: list[str], progress=print) -> list[dict]:
    """The record's rows."""
    start = time.monotonic()
    hashes = [{"sha256": digest(values(one))} for one in launches]
    progress(f"[{time.monotonic() - start:5.1f} s] {len(hashes)} results computed")
    counts: list[dict] = []
    for first in range(0, len(launches), GROUP):
        counts += counted(launches[first:first + GROUP], metrics)
        progress(f"[{time.monotonic() - start:5.1f} s] {len(counts)} of {len(launches)} launches counted")
    return [one.row | count | hash_ for one, count, hash_ in zip(launches, counts, hashes, strict=True)]


def main(out: Path) -> Path:
    """Measure and write the record."""
    device = gpu.device()
    if not shutil.which("ncu"):
        raise counters.NoCounters("Nsight Compute's program ncu is not on the PATH; it comes with the CUDA Toolkit")
    usable, missing = counters.usable_metrics(dict.fromkeys(name for names in METRICS.values() for name in names))
    content = counters.about([], missing) | {"metrics": METRICS, "protocol": PROTOCOL}
    content["versions"]["NVRTC"] = nvrtc.version()
    path = out / files.record_name("testbench", device.name)
    return files.write(path, "testbench", content | {"rows": measure(plan(), usable)})


if __name__ == "__main__":
    try:
        print(main(Path(sys.argv[1]) if sys.argv[1:] else files.FOLDER))
    except (gpu.NoGpu, counters.NoCounters) as error:
        sys.exit(f"make counters needs an NVIDIA GPU whose counters ncu may read: {error}")
