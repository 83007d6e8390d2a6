"""Numba's CUDA simulator on two kernels of the course, written in Python: a line "name size seconds" for each.

    python benchmarks/numba_simulator.py 64 [128 ...]

It needs Numba (pip install numba). The simulator runs every thread of a block as a thread of Python. Naive has blocks
of 32 x 32 threads; shared tiling has TILE = 16, which the simulator bears better than 32.
"""

from __future__ import annotations

import os
import sys
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"    # before Numba is imported

import numpy as np  # noqa: E402
from numba import cuda, float32  # noqa: E402

TILE = 16


@cuda.jit
def naive(M, N, K, A, B, C):
    col, row = cuda.grid(2)
    if row < M and col < N:
        total = float32(0)
        for k in range(K):
            total += A[row, k] * B[k, col]
        C[row, col] = total


@cuda.jit
def shared_tiling(M, N, K, A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)    # on a line of its own: the simulator tells arrays apart by lines
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for k0 in range(0, K, TILE):
        As[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else 0
        Bs[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = total


def seconds(kernel, tile: int, size: int) -> float:
    random = np.random.default_rng(size)
    A, B = (random.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    C, blocks = np.zeros((size, size), np.float32), -(-size // tile)
    started = time.perf_counter()
    kernel[(blocks, blocks), (tile, tile)](size, size, size, A, B, C)
    took = time.perf_counter() - started
    assert np.allclose(C, A @ B, atol=1e-3), "the simulator's result is wrong"
    return took


if __name__ == "__main__":
    for size in map(int, sys.argv[1:]):
        for name, kernel, tile in (("naive", naive, 32), ("shared_tiling", shared_tiling, TILE)):
            print(name, size, f"{seconds(kernel, tile, size):.3f}", flush=True)
