"""Every rung from 1D strips to split K on the GPU at hand: times, counters, and the candidates of `gl.best`.

    python benchmarks/ladder.py OUT [bench] [tuning] [counters]        all of them if none is named

bench      OUT/ladder_h200.json            each rung over size
tuning     OUT/tuning_h200.json            the candidates of `gl.best` at the sizes of `goals.py`
counters   OUT/laddercounters_h200.json    ncu's counters and stalls of each rung at 4096

To ship the records, copy them into gemm_lab/measurements/.
"""

from __future__ import annotations

import sys
from math import inf
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gemm_lab as gl  # noqa: E402  (run as a script, this file finds the checkout beside it)
from benchmarks import counters, goals  # noqa: E402
from gemm_lab import fastest, gpu  # noqa: E402
from gemm_lab.records import joined, record_name, save_counters  # noqa: E402

SIZES = (512, 1024, 2048, 4096, 8192)
STALLS = tuple(f"smsp__average_warps_issue_stalled_{why}_per_issue_active.ratio" for why in (
    "barrier", "dispatch_stall", "long_scoreboard", "short_scoreboard", "mio_throttle", "not_selected"))
METRICS = counters.LAW_METRICS + STALLS + (
    "smsp__inst_executed.sum", "smsp__cycles_active.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "gpu__time_duration.sum")


def rungs() -> list:
    """The ladder, with pairs of neighbours that differ in one thing where a claim rests on it."""
    return [gl.RegisterTiling1D(), gl.RegisterTiling1D(64, 64, 32, 16), gl.PipelinedTiling1D(BLOCKS=2),
            gl.PipelinedTiling1D(), gl.RegisterTiling2D(), gl.WarpTiling(), gl.Pipelining(),
            gl.Reordering(ORDER=0, STRIP=1), gl.Reordering(ORDER=0), gl.Reordering(STRIP=1), gl.Reordering(),
            gl.SlicedK(), gl.SplitK(BK=24, DOWN=True, share=132)]


def bench(out: Path) -> None:
    """Each rung over size."""
    save_parts(out, "ladder", {(n, n, n): rungs() for n in SIZES})


def tuning(out: Path) -> None:
    """The candidates of `gl.best`, where they can do the size."""
    model = gl.gpus["H200"]
    save_parts(out, "tuning", {size: [c.kernel for c in fastest.candidates(model) if c.estimate_us(*size, model) < inf]
                               for size in (*goals.SQUARES, *goals.OTHERS)})


def save_parts(out: Path, name: str, plan: dict) -> None:
    """Measure each size, and save after each what there is; a size that fails is named and left out."""
    parts = []
    for size, kernels in plan.items():
        try:
            parts.append(gl.benchmark([k for k in kernels if fits(k, size)], [size], seconds=0.06, progress=False))
            record = joined(parts)
            record.save(out / record_name(name, record.device))
            rows = sorted(parts[-1].rows, key=lambda row: row.median_ms)
            print(name, size, "; ".join(f"{row.tflops:.2f} {row.kernel}" for row in rows[:4]), flush=True)
        except Exception as error:
            print(f"{name} {size}: {type(error).__name__}: {error}", flush=True)


def fits(kernel, size: tuple[int, int, int]) -> bool:
    """Whether a kernel's grid and workspace allow the size."""
    try:
        return bool(kernel.launch_grid(*size[:2]))
    except ValueError:
        return False


def count(out: Path) -> None:
    """ncu's counters of each rung."""
    usable, missing = counters.usable_metrics(METRICS)
    rows = counters.collect([(kernel, (4096, 4096, 4096), 0.0) for kernel in rungs()], usable)
    save_counters(out / record_name("laddercounters", gpu.device().name), rows, counters.about(usable, missing))
    for row in rows:
        print(f"{row.kernel:75} w = {row.wavefronts_per_warp_fma:.3f}", flush=True)


PARTS = {"bench": bench, "tuning": tuning, "counters": count}

if __name__ == "__main__":
    if len(sys.argv) < 2 or any(part not in PARTS for part in sys.argv[2:]):
        sys.exit(__doc__)
    for part in sys.argv[2:] or PARTS:
        PARTS[part](Path(sys.argv[1]))
