"""Everything that the course records on its reference GPU, one NVIDIA H200 (any other works, too). About eight minutes.

    python benchmarks/h200.py OUT [bench] [law] [counters] [verify] [sanitize]        all of them if none is named

bench      OUT/bench_h200.json          every course kernel and cuBLAS over size
law        OUT/law_h200.json            many variants at one size, and
           OUT/wavefronts_h200.json   their wavefronts per warp-FMA by ncu
counters   OUT/counters_h200.json       ncu's counters at 512^3 and two ragged sizes
verify     OUT/verify.json              values against float64 at ragged shapes, and with more than 2^31 elements
sanitize   OUT/sanitizer_h200.json      what compute-sanitizer says of correct and of broken kernels

To ship the records, copy them into gemm_lab/measurements/. Each part runs in a process of its own.
Exit status: 0 all is well; 1 a part failed; 3 no hardware counters here (the other parts ran).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import counters  # noqa: E402  (run as a script, this file finds the checkout beside it)
from gemm_lab import gpu  # noqa: E402
from gemm_lab.benchmark import benchmark, course_kernels  # noqa: E402
from gemm_lab.kernels import CudaGemm, GemmKernel, Naive, RegisterTiling1D, SharedTiling  # noqa: E402
from gemm_lab.records import files, joined, record_name, save_counters  # noqa: E402

START = time.monotonic()
NO_COUNTERS = 3
SLOW = Naive(coalesced=False)    # 100 times slower than cuBLAS: left out at 8192, where a launch takes over 2 s


def main(words: list[str]) -> int:
    """Run the parts that `words` name into the folder that comes first."""
    if not words or any(part not in PARTS for part in words[1:]):
        print(__doc__)
        return 2
    out, parts = Path(words[0]), words[1:] or list(PARTS)
    out.mkdir(parents=True, exist_ok=True)
    if len(parts) == 1:
        return PARTS[parts[0]](out)
    log(f"{gpu.device()}")
    (out / "ncu.json").unlink(missing_ok=True)
    if {"law", "counters"} & set(parts):
        find_metrics(out)
    status = {}
    for part in parts:
        status[part] = subprocess.run([sys.executable, __file__, str(out), part], env=counters.environment()).returncode
        log(f"{part} ended with status {status[part]}")
    print("\n".join(f"{part:10} {WORDS.get(code, 'FAILED')}" for part, code in status.items()), flush=True)
    return 1 if set(status.values()) - {0, NO_COUNTERS} else max(status.values())


WORDS = {0: "done", NO_COUNTERS: "without hardware counters"}


def log(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - START:6.1f} s] {text}", flush=True)


# --- bench

def bench(out: Path) -> int:
    """Every course kernel over size."""
    kernels = course_kernels()
    parts = []
    for size in (256, 512, 1024, 2048, 4096, 8192):
        some = [k for k in kernels if size < 8192 or k != SLOW]
        parts.append(benchmark(some, size, seconds=0.4, progress=False))
        log(f"bench {size}")
    record = joined(parts)
    print(record, flush=True)
    record.save(out / record_name("bench", record.device))
    return 0


# --- law

def law_kernels() -> list[GemmKernel]:
    """The variants of the law's table: w from 33 to 0.6."""
    naive = [Naive(coalesced=False), *(Naive(block=b) for b in ((32, 32), (16, 16), (8, 32), (32, 8), (64, 4)))]
    tiled = [SharedTiling(TILE, PAD) for TILE, pads in ((32, range(5)), (16, range(2)), (8, range(2))) for PAD in pads]
    turned = [transposed(SharedTiling(TILE, PAD)) for TILE in (32, 16) for PAD in (0, 1)]
    strips = [RegisterTiling1D(64, 64, BK, TM)
              for BK, TM in ((8, 8), (16, 8), (32, 8), (16, 16), (32, 16), (32, 32))]
    strided = [RegisterTiling1D(64, 64, BK, 8, strided_loader=True) for BK in (8, 32)]
    pairs = [resident(RegisterTiling1D(64, 64, 8, 8), 2), resident(RegisterTiling1D(64, 64, 8, 8), 4),
             resident(RegisterTiling1D(64, 64, 16, 8), 3), unrolled(RegisterTiling1D(64, 64, 32, 32), 2),
             waiting(RegisterTiling1D(64, 64, 8, 8), 1), waiting(RegisterTiling1D(64, 64, 8, 8), 2)]
    return naive + tiled + turned + strips + strided + pairs


def transposed(kernel: SharedTiling) -> CudaGemm:
    """Shared tiling whose tile of A is stored transposed: a store of a warp goes down a column, 32 rows apart."""
    return kernel.edited(("As[ty][tx] =", "As[tx][ty] ="), ("+= As[ty][k]", "+= As[k][ty]"),
                         label=f"{kernel.label}, A transposed")


def resident(kernel: RegisterTiling1D, blocks: int) -> CudaGemm:
    """A strip kernel whose registers the compiler budgets so that `blocks` of them fit on an SM."""
    return kernel.edited(("__launch_bounds__(BM * BN / TM)", f"__launch_bounds__(BM * BN / TM, {blocks})"),
                         label=f"{kernel.label}, {blocks} blocks per SM")


def unrolled(kernel: RegisterTiling1D, times: int) -> CudaGemm:
    """A strip kernel whose loop over k the compiler is told to unroll, so that it can merge reads of A again."""
    return kernel.edited(("        for (int k = 0;", f"#pragma unroll {times}\n        for (int k = 0;"),
                         label=f"{kernel.label}, k unrolled by {times}")


STORE_A = """#pragma unroll
            for (int w = 0; w < A_WORDS; ++w) {
                const int r = ar + w * A_ROWS;
                if (A_FITS || (ar < A_ROWS && r < BM)) As[r][ac] = a[w];
            }
"""
LOAD_B = """#pragma unroll
            for (int w = 0; w < B_WORDS; ++w) {
                const int r = br + w * B_ROWS;
                if (B_FITS || r < BK)
                    b[w] ="""


def waiting(kernel: RegisterTiling1D, times: int) -> CudaGemm:
    """The static loader with A's words stored above the loads of B's. The compiler issues all loads first nevertheless,
    and a thread waits once for a tile; a __syncwarp() in between keeps the order, and it waits twice."""
    fence = "            __syncwarp();\n" if times == 2 else ""
    return kernel.edited((STORE_A, ""), (LOAD_B, STORE_A + fence + LOAD_B),
                         label=f"{kernel.label}, {('one wait', 'two waits')[times - 1]}")


LAW_SIZE = (4096, 4096, 4096)
ODD_SIZES = ((4096, 4096, 4104), (2000, 2000, 2004))    # the slow order where its lines do not fall into the same sets


def law(out: Path) -> int:
    """Times of many variants at one size, and their wavefronts by ncu."""
    kernels = law_kernels()
    parts = [benchmark(kernels, LAW_SIZE[0], seconds=0.25, progress=False)]
    log("law: timed")
    parts += [benchmark(SLOW, [size], seconds=0.25, progress=False) for size in ODD_SIZES]
    times = joined(parts)
    times.save(out / record_name("law", times.device))
    plan = [(kernel, LAW_SIZE, 0.0) for kernel in kernels] + [(SLOW, size, 0.0) for size in ODD_SIZES]
    status = count(out, "wavefronts", plan, counters.LAW_METRICS)
    if status == 0:
        from gemm_lab.records import load_counters
        for row in load_counters(out / record_name("wavefronts", times.device)):
            print(f"{row.kernel:50} {row.K:5} w = {row.wavefronts_per_warp_fma or 0:6.3f} "
                  f"{times.tflops(row.kernel, *row.size):6.2f} TFLOPS", flush=True)
    else:
        print(times, flush=True)
    return status


# --- counters

COUNTED_SIZES = ((512, 512, 512), (130, 67, 45), (100, 70, 50))


def counted_kernels() -> list[GemmKernel]:
    """Every course kernel, at several tiles."""
    return [Naive(coalesced=False), Naive(coalesced=False, block=(16, 16)), Naive(), Naive(block=(16, 16)),
            Naive(block=(8, 32)), Naive(block=(64, 4)), SharedTiling(4), SharedTiling(8), SharedTiling(16),
            SharedTiling(16, PAD=1), SharedTiling(32), SharedTiling(32, PAD=1), SharedTiling(32, PAD=2),
            transposed(SharedTiling(32)), RegisterTiling1D(), RegisterTiling1D(strided_loader=True),
            RegisterTiling1D(16, 16, 4, 4), RegisterTiling1D(32, 64, 8, 4), RegisterTiling1D(64, 64, 16, 16),
            RegisterTiling1D(64, 64, 32, 8), RegisterTiling1D(64, 64, 32, 8, strided_loader=True),
            RegisterTiling1D(64, 64, 32, 16), RegisterTiling1D(64, 64, 32, 32)]


def count_course(out: Path) -> int:
    """Counters at small sizes; beta once 0 and once not where C is ragged."""
    plan = [(kernel, size, beta) for size in COUNTED_SIZES for beta in (0.0, 0.5) for kernel in counted_kernels()
            if beta == 0 or size != COUNTED_SIZES[0]]
    return count(out, "counters", plan, counters.METRICS)


def find_metrics(out: Path) -> dict:
    """Which metrics ncu reads here, tried once and kept in OUT/ncu.json: {"usable": [...], "missing": [...]}."""
    path = out / "ncu.json"
    if path.is_file():
        return json.loads(path.read_text())
    try:
        usable, missing = counters.usable_metrics()
        found = {"usable": usable, "missing": missing}
    except counters.NoCounters as error:
        found = {"usable": [], "missing": [], "error": str(error)}
    path.write_text(json.dumps(found, indent=1))
    log(f"ncu reads {len(found['usable'])} of {len(counters.METRICS)} metrics; missing: {found['missing'] or 'none'}"
        if found["usable"] else f"HARDWARE COUNTERS ARE NOT AVAILABLE: {found['error']}")
    return found


def count(out: Path, experiment: str, plan: counters.Plan, metrics: tuple[str, ...]) -> int:
    """Read the counters of a plan and save them."""
    found = find_metrics(out)
    usable = [name for name in metrics if name in found["usable"]]
    if not usable:
        return NO_COUNTERS
    rows = counters.collect(plan, usable)
    missing = [name for name in metrics if name in found["missing"]]
    save_counters(out / record_name(experiment, gpu.device().name), rows, counters.about(usable, missing))
    log(f"{experiment}: {len(rows)} launches counted")
    return 0


# --- verify

SHAPES = ((1, 1, 1), (1, 33, 17), (33, 1, 64), (65, 33, 17), (130, 67, 45), (100, 70, 50), (257, 129, 1), (31, 1000, 5),
          (512, 512, 512))
LARGE = ((46342, 46342, 3), (46342, 3, 46342), (3, 46342, 46342))    # C, A, B have more than 2^31 elements


def verify(out: Path) -> int:
    """Values of every kernel against float64."""
    kernels = list({kernel.label: kernel for kernel in course_kernels() + counted_kernels()}.values())
    wrong = [fault for kernel in kernels for fault in ragged_faults(kernel)]
    log(f"verify: {len(kernels)} kernels, {len(SHAPES)} shapes, {len(wrong)} faults")
    gpu.worker.stop()    # its memory is needed
    large = [Naive(coalesced=False), Naive(), SharedTiling(16), SharedTiling(32), RegisterTiling1D(),
             RegisterTiling1D(strided_loader=True), RegisterTiling1D(64, 64, 32, 16)]
    for size in LARGE:
        wrong += large_faults(large, size)
        log(f"verify: {size}, more than 2^31 elements")
    report = {"kernels": [k.label for k in kernels], "shapes": SHAPES, "large_kernels": [k.label for k in large],
              "large_shapes": LARGE, "device": gpu.device().name, "driver": gpu.device().driver, "faults": wrong}
    (out / "verify.json").write_text(json.dumps(report, indent=1))
    print("\n".join(wrong) or "verify: all values are right", flush=True)
    return 1 if wrong else 0


def ragged_faults(kernel: GemmKernel) -> Iterator[str]:
    """What is wrong with a kernel at SHAPES, in the way that a student runs it."""
    from gemm_lab.checking import reference
    for M, N, K in SHAPES:
        A, B, C = counters.inputs(M, N, K)
        for alpha, beta in ((1.0, 0.0), (0.75, -1.5)):
            start = C if beta else np.full_like(C, np.nan)
            got = gpu.run_gemm(kernel, A, B, start, alpha, beta).C
            want, tolerance = reference(A, B, C, alpha, beta)
            bad = ~(np.abs(got - want) <= tolerance)
            if bad.any():
                yield f"{kernel.label} at {M}x{N}x{K}, beta = {beta}: {bad.sum()} of {bad.size} elements are wrong"


def large_faults(kernels: list[GemmKernel], size: tuple[int, int, int]) -> list[str]:
    """What is wrong with kernels where an offset needs more than 32 bits; every element is compared."""
    import cupy

    from gemm_lab.gpu import launching, timing
    M, N, K = size
    a, b, faults = filled(M, K), filled(K, N), []
    c = cupy.empty((M, N), np.float32)
    for kernel in kernels:
        c.fill(np.nan)
        job = gpu.Job.of(kernel, M, N, gpu.device().arch)
        launching.launch(launching.load(job), job, launching.arguments(a, b, c))
        launching.wait(launching.mark(), 60, kernel.label)
        bad = sum(int((~(cupy.abs(c[row:row + len(want)] - want) <= timing.tolerance(K))).sum())
                  for row, want in products(a, b))
        if bad:
            faults.append(f"{kernel.label} at {M}x{N}x{K}: {bad} of {M * N} elements are wrong")
    del a, b, c
    cupy.get_default_memory_pool().free_all_blocks()
    return faults


def filled(rows: int, columns: int):
    """A large matrix of standard normal numbers on the GPU: 2^24 random ones again and again, each time shifted."""
    import cupy
    step, shifts = 2**24, 2**16
    numbers = cupy.asarray(np.random.default_rng([rows, columns]).standard_normal(step + shifts, np.float32))
    X = cupy.empty((rows, columns), np.float32)
    flat = X.reshape(-1)
    for number, start in enumerate(range(0, flat.size, step)):
        part, shift = flat[start:start + step], number * 7919 % shifts
        part[:] = numbers[shift:shift + part.size]
    return X


def products(a, b) -> Iterator[tuple]:
    """(first row, those rows of a*b in float64), block by block."""
    import cupy
    step = 4096
    for row in range(0, a.shape[0], step):
        rows = a[row:row + step]
        want = cupy.zeros((rows.shape[0], b.shape[1]), np.float64)
        for k in range(0, a.shape[1], step):
            want += rows[:, k:k + step].astype(np.float64) @ b[k:k + step].astype(np.float64)
        yield row, want


# --- sanitize

def sanitize(out: Path) -> int:
    """Memory errors and races: none in correct kernels, and some in those that were made to have them."""
    from benchmarks import sanitizer
    faults = sanitizer.faults(files.read(sanitizer.main(out), "sanitizer")["rows"])
    print("\n".join(faults) or "sanitize: as expected", flush=True)
    return 1 if faults else 0


PARTS = {"bench": bench, "law": law, "counters": count_course, "verify": verify, "sanitize": sanitize}

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except gpu.NoGpu as error:
        sys.exit(str(error))
