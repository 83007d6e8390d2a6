"""What the GPU's process is told: one kernel for one problem size, compiled, with nothing left to decide."""

from __future__ import annotations

from dataclasses import dataclass, field


class GpuError(RuntimeError):
    """A kernel crashed on the GPU, could not be launched there, or did not end. The next call starts afresh."""


@dataclass(frozen=True)
class Job:
    """One kernel, ready to launch for one size of C.

    code        machine code (a cubin) for the GPU at hand; `symbol` is the kernel's name in it
    grid, block blocks, and threads in a block, along x, y, z
    source      the CUDA C++ text and `entry`, the kernel's name there: for a driver that is older than the compiler
    """

    label: str
    code: bytes = field(repr=False)
    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    source: str = field(repr=False)
    entry: str

    @classmethod
    def of(cls, kernel, M: int, N: int, arch: str) -> Job:
        """Compile `kernel` for `arch` ("sm_90") and fix its grid for an M x N result; ValueError if too large."""
        grid = kernel.launch_grid(M, N)
        compiled = kernel.compile(arch)
        return cls(kernel.label, compiled.cubin, compiled.entry, grid, kernel.block, kernel.shared_bytes, kernel.source,
                   kernel.entry)
