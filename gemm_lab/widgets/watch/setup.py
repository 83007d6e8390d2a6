"""What is being watched: a kernel, a problem, a block, and what the viewer changed about them.

Everything that a viewer can choose goes through `Setup.changed`, which takes what the browser sent. What is impossible
raises ValueError with the message of whoever refused it: a kernel's constructor, the launch, the emulator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, is_dataclass, replace

from gemm_lab.arguments import checked_kernel, checked_sizes
from gemm_lab.kernels import GemmKernel, Naive, RegisterTiling1D, SharedTiling, is_whole

LARGEST = 128    # of M, N and K: a picture of more cells shows nothing
BARRIER = re.compile(r"\b__syncthreads\s*\(\s*\)")
REMOVED = "/* barrier removed */"
DEFAULT = RegisterTiling1D(BM=8, BN=4, BK=4, TM=4), (8, 8, 8)
PRESETS = {    # what it shows -> kernel, (M, N, K)
    "1D strips 8, 4, 4, 4: reuse": DEFAULT,
    "1D strips 16, 16, 4, 4: requests, banks, barriers": (RegisterTiling1D(16, 16, 4, 4), (16, 16, 16)),
    "shared tiling, TILE 8": (SharedTiling(8), (16, 16, 16)),
    "naive, a warp along a row": (Naive(block=(32, 2)), (4, 32, 8)),
    "naive, a warp down a column": (Naive(coalesced=False, block=(32, 2)), (32, 4, 8)),
}


@dataclass(frozen=True)
class Setup:
    """What to execute, and which block and thread to look at.

    removed   lines whose barrier is taken out
    order     "lockstep", or the warps in the order in which they get a turn
    swapped   threadIdx.x and threadIdx.y exchanged in the source
    """

    kernel: GemmKernel
    M: int
    N: int
    K: int
    block: tuple[int, int, int] = (0, 0, 0)
    thread: int = 0
    removed: tuple[int, ...] = ()
    order: str | tuple[int, ...] = "lockstep"
    swapped: bool = False

    @classmethod
    def checked(cls, kernel, M, N, K, block, thread) -> Setup:
        """ValueError for what does not exist."""
        checked_kernel(kernel)
        M, N, K = checked_sizes(M, N, K)
        grid = kernel.launch_grid(M, N)
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        return cls(kernel, M, N, K, triple("block", block, grid), one_thread(thread, kernel.block, threads)).small()

    def small(self) -> Setup:
        """This setup; ValueError if nobody could look at it."""
        for name, size in zip("MNK", (self.M, self.N, self.K)):
            if size > LARGEST:
                raise ValueError(f"choose a smaller problem: {name} = {size}; the picture holds at most {LARGEST}")
        return self

    @property
    def executed(self) -> GemmKernel:
        """The kernel with the viewer's changes to its source."""
        kernel = swap_threads(self.kernel) if self.swapped else self.kernel
        return without_barriers(kernel, self.removed) if self.removed else kernel

    @property
    def title(self) -> str:
        """What is watched, in a line."""
        changes = [f"no barrier in line {line}" for line in self.removed] + ["threads swapped"] * self.swapped
        return f"{', '.join([self.kernel.label, *changes])} at M={self.M}, N={self.N}, K={self.K}"

    def changed(self, request: dict) -> Setup:
        """What a viewer asks for; entries that `request` leaves out stay."""
        if request.get("preset") is not None:
            kernel, size = PRESETS[request["preset"]]
            return Setup(kernel, *size)
        kernel = changed_kernel(self.kernel, request.get("fields", {}))
        M, N, K = checked_sizes(*(whole_if_possible(request.get(name, getattr(self, name))) for name in "MNK"))
        same = (kernel, M, N, K) == (self.kernel, self.M, self.N, self.K)
        asked = replace(self, kernel=kernel, M=M, N=N, K=K, removed=tuple(request.get("removed", self.removed)),
                        order=turns(request.get("order", self.order if same else "lockstep")),
                        swapped=bool(request.get("swapped", self.swapped))).small()
        grid = kernel.launch_grid(M, N)
        block = tuple(min(n, size - 1) for n, size in zip((*request.get("block", self.block), 0, 0), grid))
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        return replace(asked, block=block[:3], thread=min(int(request.get("thread", self.thread)), threads - 1))


def turns(order) -> str | tuple[int, ...]:
    return order if isinstance(order, str) else tuple(int(warp) for warp in order)


def triple(what: str, block, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    """A block's number as (x, y, z); ValueError unless the grid has it."""
    numbers = tuple(block) if isinstance(block, tuple | list) else (block,)
    x, y, z = (*numbers, 0, 0)[:3]
    if not 1 <= len(numbers) <= 3 or not all(is_whole(n) and 0 <= n < size for n, size in zip((x, y, z), grid)):
        raise ValueError(f"{what} is {block!r}; the grid has {grid[0]} x {grid[1]} x {grid[2]} blocks, counted from 0")
    return int(x), int(y), int(z)


def one_thread(thread, shape: tuple[int, int, int], threads: int) -> int:
    """A thread's number in its block, also from (x, y, z); ValueError unless the block has it."""
    if isinstance(thread, tuple | list):
        x, y, z = triple("thread", thread, shape)
        return x + shape[0] * (y + shape[1] * z)
    if not is_whole(thread) or not 0 <= thread < threads:
        raise ValueError(f"thread is {thread!r}; the block has {threads} threads, counted from 0")
    return int(thread)


# ---- a kernel and its parameters

def parameters(kernel: GemmKernel) -> list[dict]:
    """The parameters that can be changed: {"name", "value"}, a value being a number, a boolean or (x, y)."""
    if "source" in {f.name for f in fields(kernel)} or not is_dataclass(kernel):
        return []
    values = {f.name: getattr(kernel, f.name) for f in fields(kernel) if f.init}
    return [{"name": name, "value": list(value[:2]) if isinstance(value, tuple) else value}
            for name, value in values.items()]


def changed_kernel(kernel: GemmKernel, values: dict) -> GemmKernel:
    """The kernel with other parameters; ValueError from its constructor."""
    known = {p["name"] for p in parameters(kernel)}
    chosen = {name: tuple(map(whole_if_possible, value)) if isinstance(value, list) else whole_if_possible(value)
              for name, value in values.items() if name in known}
    return replace(kernel, **chosen) if chosen else kernel


def whole_if_possible(value):
    """A number as the browser sends it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# ---- changes to the source

def barrier_lines(kernel: GemmKernel) -> list[int]:
    """The lines of a source that have a barrier which can be taken out."""
    lines = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), kernel.source, flags=re.S).split("\n")
    return [n for n, line in enumerate(lines, 1) if BARRIER.search(line.split("//")[0])]


def without_barriers(kernel: GemmKernel, lines) -> GemmKernel:
    """The kernel without the barriers of these lines; all lines keep their numbers."""
    text = kernel.source.split("\n")
    for line in lines:
        if line not in barrier_lines(kernel):
            raise ValueError(f"line {line} has no __syncthreads(); those that have: {barrier_lines(kernel)}")
        text[line - 1] = BARRIER.sub(REMOVED, text[line - 1], count=1)
    return kernel.with_source("\n".join(text), label=kernel.label)


def cannot_swap(kernel: GemmKernel) -> str:
    """Why the thread order cannot be swapped, or nothing."""
    if isinstance(kernel, Naive):
        return ""
    if "threadIdx.y" not in kernel.source or "threadIdx.x" not in kernel.source:
        return "this kernel numbers its threads with threadIdx.x alone"
    if kernel.block[0] != kernel.block[1]:
        return f"the block is {kernel.block[0]} x {kernel.block[1]}; only a square one can be transposed"
    return ""


def swap_threads(kernel: GemmKernel) -> GemmKernel:
    """The kernel with x and y of its threads exchanged: a warp then walks the other way."""
    if problem := cannot_swap(kernel):
        raise ValueError(f"the thread order cannot be swapped: {problem}")
    if isinstance(kernel, Naive):
        return replace(kernel, coalesced=not kernel.coalesced)
    text = re.sub(r"\bthreadIdx\.([xy])\b", lambda m: "threadIdx." + {"x": "y", "y": "x"}[m[1]], kernel.source)
    return kernel.with_source(text, label=kernel.label)
