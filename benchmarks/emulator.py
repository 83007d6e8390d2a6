"""How fast the emulator is: FMAs per second, best of three runs, compilation excluded.

    python benchmarks/emulator.py [--sizes 256 512] [--modes values count check] [--repeat 3]

What the course asks for, on two cores: at least 30 million FMAs per second with counting at 256^3 for shared tiling and
1D register tiling, and 512^3 in less than four seconds.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from gemm_lab.emulator import emulate  # noqa: E402
from gemm_lab.kernels import Naive, RegisterTiling1D, SharedTiling  # noqa: E402

KERNELS = (Naive(), SharedTiling(32), RegisterTiling1D(64, 64, 8, 8))


def seconds(kernel, size: int, mode: str, repeat: int) -> float:
    """The shortest of `repeat` runs of size^3."""
    r = np.random.default_rng(0)
    A, B, C = (r.standard_normal((size, size)).astype(np.float32) for _ in range(3))
    args = (size, size, size, 1.0, A, B, 0.0, C)
    return min(emulate(kernel.source, kernel.entry, kernel.grid(size, size), kernel.block, args, mode=mode).seconds
               for _ in range(repeat))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 512])
    parser.add_argument("--modes", nargs="+", default=["count"], choices=["values", "count", "check"])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    print(f"{'kernel':45} {'size':>5} {'mode':>7} {'seconds':>8} {'M FMA/s':>8}")
    for kernel in KERNELS:
        for size in options.sizes:
            for mode in options.modes:
                took = seconds(kernel, size, mode, options.repeat)
                print(f"{kernel.label:45} {size:5} {mode:>7} {took:8.3f} {size**3 / took / 1e6:8.1f}", flush=True)


if __name__ == "__main__":
    main()
