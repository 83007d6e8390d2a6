"""How fast the emulator is: FMAs per second, best of three runs, compilation excluded.

    python benchmarks/emulator.py [--sizes 512 1024] [--modes values count check] [--repeat 3] [--back-ends numpy llvm]
    python benchmarks/emulator.py --numba [PYTHON] [--sizes 64]       beside Numba's CUDA simulator

What the course asks for, on two cores: with the NumPy back end at least 30 million FMAs per second with counting at
256^3 for shared tiling and 1D register tiling, and 512^3 in less than four seconds; with the LLVM back end at least
1000 million at 512^3 (3000 with 2D register tiles), check mode at 512^3 within a second, and 1024^3 in about a second.

`first` is how long the first run took, everything included. `cores` is how much processor time a run took in units of
its own time: where other programs keep the processor busy, that is less than what the machine has, and `idle` says what
the speed would be if each of its cores had worked all the time.

--numba needs Numba, here or in the environment of the PYTHON that is named. To make one:
    python -m venv numba-env && numba-env/bin/pip install numba
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))

from gemm_lab.emulator import emulate  # noqa: E402
from gemm_lab.kernels import CudaGemm, Naive, RegisterTiling1D, SharedTiling  # noqa: E402

REGISTERS_2D = CudaGemm((FOLDER / "register_tiling_2d.cu").read_text(), "register_tiling_2d<128, 128, 8, 8, 8>",
                        lambda M, N: (-(-N // 128), -(-M // 128)), 256, label="2D register tiling 128,128,8,8x8")
KERNELS = (Naive(), SharedTiling(16), SharedTiling(32), RegisterTiling1D(64, 64, 8, 8), REGISTERS_2D)
SAME_IN_NUMBA = {"naive": Naive(), "shared_tiling": SharedTiling(16)}
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def run(kernel, size: int, mode: str) -> tuple[float, float]:
    """Seconds of one run of size^3, and seconds of processor time that it took with everything around it."""
    r = np.random.default_rng(0)
    A, B, C = (r.standard_normal((size, size)).astype(np.float32) for _ in range(3))
    started = time.process_time()
    done = emulate(kernel.source, kernel.entry, kernel.grid(size, size), kernel.block,
                   (size, size, size, 1.0, A, B, 0.0, C), mode=mode)
    assert done.completed and not done.findings
    return done.seconds, time.process_time() - started


def measure(kernel, size: int, mode: str, repeat: int) -> tuple[float, float, float]:
    """How long the first run took, and of the shortest one of `repeat`: its seconds and its processor time."""
    started = time.perf_counter()
    run(kernel, size, mode)
    first = time.perf_counter() - started
    return first, *map(min, zip(*(run(kernel, size, mode) for _ in range(repeat))))


def table(options) -> None:
    print(f"{'kernel':45} {'size':>5} {'back end':>8} {'mode':>7} {'first':>8} {'seconds':>8} {'M FMA/s':>8} "
          f"{'cores':>5} {'idle':>8}")
    for kernel, size, back_end, mode in itertools.product(KERNELS, options.sizes, options.back_ends, options.modes):
        os.environ["GEMM_LAB_EMULATOR"] = back_end
        first, took, processor = measure(kernel, size, mode, options.repeat)
        speed = size**3 / took / 1e6
        print(f"{kernel.label:45} {size:5} {back_end:>8} {mode:>7} {first:8.3f} {took:8.3f} {speed:8.1f} "
              f"{processor / took:5.2f} {size**3 / processor * CORES / 1e6:8.1f}", flush=True)


def beside_numba(options) -> None:
    """The same kernels on Numba's CUDA simulator, which neither counts nor checks, and here with counting."""
    words = [options.numba, str(FOLDER / "numba_simulator.py"), *map(str, options.sizes)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as simulator:
        for line in simulator.stdout:
            name, size, seconds = line.split()
            for back_end in options.back_ends:
                os.environ["GEMM_LAB_EMULATOR"] = back_end
                _, took, _ = measure(SAME_IN_NUMBA[name], int(size), "count", options.repeat)
                print(f"{name:15} {size:>5}  Numba's simulator {float(seconds):8.3f} s   {back_end:>5} {took:8.4f} s   "
                      f"{float(seconds) / took:8,.0f} times faster", flush=True)
        if "No module named 'numba'" in (errors := simulator.stderr.read()):
            sys.exit("Numba is not installed: python -m venv numba-env && numba-env/bin/pip install numba, then "
                     "--numba numba-env/bin/python")
    if simulator.returncode:
        sys.exit(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--modes", nargs="+", default=["count"], choices=["values", "count", "check"])
    parser.add_argument("--back-ends", nargs="+", default=["numpy", "llvm"], choices=["numpy", "llvm"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--numba", nargs="?", const=sys.executable, metavar="PYTHON")
    options = parser.parse_args()
    options.sizes = options.sizes or ([64] if options.numba else [256, 512])
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, {CORES} cores")
    beside_numba(options) if options.numba else table(options)


if __name__ == "__main__":
    main()
