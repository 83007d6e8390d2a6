"""How fast the emulator is: FMAs per second, best of three runs, compilation excluded.

    python benchmarks/emulator.py [--sizes 256 512] [--modes values count check] [--repeat 3] [--back-ends numpy llvm]

What the course asks for, on two cores: with the NumPy back end at least 30 million FMAs per second with counting at
256^3 for shared tiling and 1D register tiling, and 512^3 in less than four seconds; with the LLVM back end at least
1000 million at 512^3. `first` is how long the first run took, compilation included.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from gemm_lab.emulator import emulate  # noqa: E402
from gemm_lab.kernels import Naive, RegisterTiling1D, SharedTiling  # noqa: E402

KERNELS = (Naive(), SharedTiling(32), RegisterTiling1D(64, 64, 8, 8))


def seconds(kernel, size: int, mode: str, repeat: int) -> tuple[float, float]:
    """The shortest of `repeat` runs of size^3, and how long the first took with everything around it."""
    r = np.random.default_rng(0)
    A, B, C = (r.standard_normal((size, size)).astype(np.float32) for _ in range(3))
    args = (size, size, size, 1.0, A, B, 0.0, C)

    def run() -> float:
        return emulate(kernel.source, kernel.entry, kernel.grid(size, size), kernel.block, args, mode=mode).seconds
    started = time.perf_counter()
    shortest = run()
    first = time.perf_counter() - started
    return min([shortest, *(run() for _ in range(repeat - 1))]), first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512])
    parser.add_argument("--modes", nargs="+", default=["count"], choices=["values", "count", "check"])
    parser.add_argument("--back-ends", nargs="+", default=["numpy"], choices=["numpy", "llvm"])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    print(f"{'kernel':45} {'size':>5} {'back end':>8} {'mode':>7} {'first':>8} {'seconds':>8} {'M FMA/s':>8}")
    for kernel, size, back_end, mode in itertools.product(KERNELS, options.sizes, options.back_ends, options.modes):
        os.environ["GEMM_LAB_EMULATOR"] = back_end
        took, first = seconds(kernel, size, mode, options.repeat)
        print(f"{kernel.label:45} {size:5} {back_end:>8} {mode:>7} {first:8.3f} {took:8.3f} "
              f"{size**3 / took / 1e6:8.1f}", flush=True)


if __name__ == "__main__":
    main()
