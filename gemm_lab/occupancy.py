"""Occupancy: how many blocks of a kernel one SM can hold at once, and which resource sets the limit.

An SM has a fixed number of warps, registers, bytes of shared memory and block slots; what runs out first limits the
blocks. The rules are those of NVIDIA's occupancy calculator, `cuda_occupancy.h` of the CUDA Toolkit 13.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from gemm_lab.arguments import checked_kernel
from gemm_lab.counts import WARP
from gemm_lab.gpu_facts import ComputeCapability, Gpu
from gemm_lab.hardware import compute_capabilities, find_gpu
from gemm_lab.kernels import MAX_SHARED_BYTES, MAX_THREADS
from gemm_lab.tables import html_table

PARTITIONS = 4              # of an SM; a warp lives in one of them, with a quarter of the registers
REGISTER_UNIT = 256         # registers are given to a warp in units of this
MAX_REGISTERS = 256         # of a thread, as the calculator checks it; the compiler stops at 255


@dataclass(frozen=True)
class Occupancy:
    """How many blocks are resident on one SM.

    blocks   resident blocks, 0 if the kernel cannot launch
    warps    their warps, of the SM's `max_warps`
    limits   resource -> blocks that it alone would allow; None: it sets no limit
    registers_per_block, shared_bytes_per_block   what a block is given, rounded up to the units of allocation
    """

    blocks: int
    warps: int
    max_warps: int
    limits: Mapping[str, int | None] = field(hash=False)
    registers_per_block: int
    shared_bytes_per_block: int

    @property
    def fraction(self) -> float:
        """Resident warps / the most that the SM can hold."""
        return self.warps / self.max_warps

    @property
    def limited_by(self) -> tuple[str, ...]:
        """Every resource that allows no more than `blocks`; ties are common."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)

    def __repr__(self) -> str:
        count = "1 block" if self.blocks == 1 else f"{self.blocks} blocks"
        warps = f" = {self.warps} of {self.max_warps} warps ({100 * self.fraction:.0f} %)"
        return f"{count}{warps if self.blocks else ': cannot launch'}; limited by {' and '.join(self.limited_by)}"

    def _repr_html_(self) -> str:
        rows = [(name, "no limit" if blocks is None else blocks) for name, blocks in self.limits.items()]
        return html_table(("resource", "blocks it allows"), rows, repr(self))


def occupancy(kernel, gpu: str | Gpu) -> Occupancy:
    """The occupancy of a kernel on a GPU: a `Gpu` or its name in `gl.gpus`.

    The kernel is compiled for that GPU, without needing one, to learn its registers and static shared memory. Its
    dynamic shared memory may reach the opt-in limit, since a launch can ask for that. Raises ValueError for what is no
    kernel, and for a GPU that the catalogue or the compiler does not know.
    """
    gpu = find_gpu(gpu)
    compiled = checked_kernel(kernel).compile(gpu.arch)
    return occupancy_of(prod(kernel.block), compiled.registers, compiled.shared_bytes, kernel.shared_bytes, gpu,
                        opt_in=True)


def occupancy_of(threads: int, registers: int, static_shared: int = 0, dynamic_shared: int = 0,
                 compute_capability: str | ComputeCapability = "9.0", *, opt_in: bool = False,
                 carveout_percent: int | None = None) -> Occupancy:
    """The occupancy of `threads` per block with `registers` per thread and bytes of shared memory per block.

    opt_in            the kernel raised its limit of dynamic shared memory to the most that is possible
    carveout_percent  the share of the SM's SRAM that it prefers as shared memory; None: the largest
    """
    if threads < 1 or min(registers, static_shared, dynamic_shared) < 0:
        raise ValueError(f"threads = {threads}, registers = {registers}, shared memory = {static_shared} + "
                         f"{dynamic_shared} bytes; a block has at least 1 thread, the others are 0 or more")
    sm = _capability(compute_capability)
    warps = -(-threads // WARP)
    warp_registers = _up(WARP * registers, REGISTER_UNIT)
    block_shared = _up(static_shared + dynamic_shared + sm.reserved_shared_bytes_per_block, sm.shared_allocation_bytes)
    fits = static_shared + dynamic_shared <= (sm.shared_bytes_per_block if opt_in else MAX_SHARED_BYTES)
    limits = {
        "warps": sm.max_warps_per_sm // warps if threads <= MAX_THREADS else 0,
        "registers": _register_limit(sm, warps, registers, warp_registers),
        "shared memory": _shared_limit(sm, block_shared, carveout_percent) if fits else 0,
        "blocks": sm.max_blocks_per_sm,
    }
    blocks = min(limit for limit in limits.values() if limit is not None)
    return Occupancy(blocks, blocks * warps, sm.max_warps_per_sm, limits, warps * warp_registers, block_shared)


def _capability(name: str | ComputeCapability) -> ComputeCapability:
    if isinstance(name, ComputeCapability):
        return name
    if name not in compute_capabilities:
        raise ValueError(f"unknown compute capability {name!r}; known are {', '.join(compute_capabilities)}")
    return compute_capabilities[name]


def _up(amount: int, unit: int) -> int:
    """`amount`, rounded up to a multiple of `unit`."""
    return -(-amount // unit) * unit


def _register_limit(sm: ComputeCapability, warps: int, registers: int, per_warp: int) -> int | None:
    """Each partition holds whole warps: 9 warps of 192 registers do not fit although 9 x 192 x 32 is below 65536."""
    if registers == 0:
        return None
    resident = PARTITIONS * (sm.registers_per_sm // PARTITIONS // per_warp)
    return resident // warps if registers <= MAX_REGISTERS else 0


def _shared_limit(sm: ComputeCapability, block_bytes: int, carveout_percent: int | None) -> int | None:
    """The SM's shared memory has one of a few sizes: the preferred one, but at least what one block needs."""
    if carveout_percent is not None and not 0 <= carveout_percent <= 100:
        raise ValueError(f"carveout_percent is {carveout_percent}; it must be 0 to 100, or None for the largest")
    sizes = [1024 * kb for kb in sm.carveouts_kb]
    wanted = sm.shared_bytes_per_sm if carveout_percent is None else carveout_percent * sm.shared_bytes_per_sm // 100
    size = min(s for s in sizes if s >= max(wanted, min(block_bytes, sizes[-1])))
    return size // block_bytes if block_bytes else None
