"""The course's fastest kernels against cuBLAS, by pairs of CUDA graph replays. About a minute on an H200.

    python benchmarks/goals.py OUT.json

For each size the kernel that `gl.best` names is verified against float64 and timed in PAIRS pairs: a replay of its
graph and one of cuBLAS's, in alternating order. A graph holds launches for 2 ms at least, which go through sets of
inputs that together take at least twice the L2 cache. The ratio is the median over the pairs of cuBLAS's time over the
kernel's. cuBLAS: cublasSgemm, TF32 off, 32 MB of workspace; the kernels have 16 MB. Clocks as found, read under cuBLAS.
"""

from __future__ import annotations

import datetime
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gemm_lab as gl  # noqa: E402  (run as a script, this file finds the checkout beside it)
from gemm_lab import gpu  # noqa: E402
from gemm_lab.records import files, source_hash  # noqa: E402

PAIRS = 31
GRAPH_SECONDS = 2e-3
SQUARES = tuple((n, n, n) for n in (512, 1024, 2048, 3072, 4096, 6144, 8192))
OTHERS = ((1000, 1000, 1000), (4096, 256, 4096), (256, 8192, 1024), (127, 4093, 511), (8192, 8192, 64),
          (512, 512, 8192), (3001, 2999, 3003), (2000, 2000, 2004), (64, 4096, 4096), (1536, 1536, 1536))
NEW = ((777, 1555, 3111), (5000, 700, 3000), (8192, 1024, 2048))    # in no tuning record: the estimate alone chooses


def main(out: Path) -> None:
    device = gpu.device()
    rows = []
    for size in (*SQUARES, *OTHERS, *NEW):
        try:
            rows.append(measured(gl.best(*size, "H200" if device.name not in gl.gpus else device.name), size, device))
            print(summary(rows[-1]), flush=True)
        except Exception as error:    # the other sizes are still worth knowing
            print(f"{size}: {type(error).__name__}: {error}", flush=True)
        files.write(out, "goals", {"device": device.name, "driver": device.driver, "protocol": __doc__,
                                   "date": datetime.date.today().isoformat(), "pairs": PAIRS, "rows": rows})
    mean = np.exp(np.mean([np.log(row["ratio"]) for row in rows if tuple(row["size"]) in SQUARES]))
    print(f"geometric mean over the squares {mean:.3f}, the smallest of all {min(r['ratio'] for r in rows):.3f}")


def measured(kernel, size: tuple[int, int, int], device) -> dict:
    """One row: the ratio, both medians and inter-quartile ranges in microseconds, and the clock."""
    import cupy

    from gemm_lab.gpu import timing
    from gemm_lab.gpu.cublas import Cublas
    cupy.get_default_memory_pool().free_all_blocks()    # of the size before
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream, closing(Cublas(stream)) as cublas:
        sets = timing.buffer_sets(*size, timing.l2_bytes())
        pair = [timing.Contestant("cuBLAS", lambda i: cublas.sgemm(*sets[i])),
                timing.contestant(gpu.Job.of(kernel, *size[:2], device.arch), sets)]
        timing.verify(pair, sets[0])
        for each in pair:
            timing.warm_up(each, len(sets))
            capture(each, len(sets), stream)
        for number in range(PAIRS):
            for each in pair if number % 2 else pair[::-1]:
                each.samples.append(timing.timed(lambda c=each: c.sample(0), each.label) / each.launches * 1e6)
        clock = timing.clock_under_load(pair[0])
    theirs, ours = (np.array(each.samples) for each in pair)
    return {"size": size, "kernel": kernel.label, "ratio": float(np.median(theirs / ours)), "clock": clock,
            "us": quartiles(ours), "cublas_us": quartiles(theirs), "source": source_hash(kernel.source),
            "tflops": 2e-6 * float(np.prod(size, dtype=float)) / float(np.median(ours))}


def capture(c, sets: int, stream) -> None:
    """Make one sample of a contestant the replay of a graph that takes GRAPH_SECONDS and whole rounds of buffers."""
    rounds = max(1, int(np.ceil(GRAPH_SECONDS / c.seconds / sets)))
    c.launches = rounds * sets
    stream.begin_capture()
    for i in range(c.launches):
        c.launch(i % sets)
    graph = stream.end_capture()
    c.sample = lambda _: graph.launch(stream)
    c.sample(0)


def quartiles(samples: np.ndarray) -> list[float]:
    """Lower quartile, median, upper quartile."""
    return [float(q) for q in np.percentile(samples, (25, 50, 75))]


def summary(row: dict) -> str:
    size, clock = "x".join(map(str, row["size"])), row["clock"].get("sm_mhz", 0)
    return (f"{size:16} {row['ratio']:6.3f}  {row['tflops']:6.2f} TFLOPS  {row['us'][1]:9.1f} us, cuBLAS "
            f"{row['cublas_us'][1]:9.1f} us  {clock:.0f} MHz  {row['kernel']}")


if __name__ == "__main__":
    main(Path(sys.argv[1])) if len(sys.argv) == 2 else sys.exit(__doc__)
