"""How fast the emulator runs a kernel on this computer."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from gemm_lab.kernels import GemmKernel
from gemm_lab.run import Run


@dataclass(frozen=True, repr=False)
class Throughput:
    """One run, and the seconds that it took with everything around it: compilation, preparation, counting up."""

    kernel: str
    size: tuple[int, int, int]
    mode: str
    run: Run
    seconds: float

    def __repr__(self) -> str:
        M, N, K = self.size
        lines = [f"{self.kernel}: {M} x {N} x {K}, mode {self.mode}, {self.run.emulator} back end: "
                 f"{'completed' if self.run.completed else 'stopped'} after {self.run.seconds:.3g} s "
                 f"({self.seconds:.3g} s with compilation)"]
        if self.run.completed:
            lines.append(f"  {M * N * K:>16,} multiply-adds {self.rate(M * N * K)}")
        if self.run.instructions:
            lines.append(f"  {self.run.instructions:>16,} instructions  {self.rate(self.run.instructions)}")
        return "\n".join([*lines, *(f"  {finding}" for finding in self.run.findings)])

    def rate(self, number: int) -> str:
        return f"{number / self.run.seconds / 1e6:>10,.1f} million/s"


def emulate_once(kernel: GemmKernel, size: tuple[int, int, int], beta: float, mode: str) -> Throughput:
    """Run a kernel on random matrices of M x K, K x N and M x N elements."""
    M, N, K = size
    random = np.random.default_rng(size)
    A, B, C = (random.standard_normal(shape, dtype=np.float32) for shape in ((M, K), (K, N), (M, N)))
    started = time.perf_counter()
    run = kernel.run(A, B, C if beta else None, beta=beta, backend="emulator", mode=mode)
    return Throughput(kernel.label, size, mode, run, time.perf_counter() - started)
