"""The course's kernels: a source file, the C++ template arguments that select a variant, and the launch geometry.

One frozen dataclass for each algorithm. Its tile parameters are the C++ template arguments, and from the same values
come the grid, the block and the closed-form counts, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral
from pathlib import Path

from gemm_lab import closed_forms
from gemm_lab.closed_forms import blocks_along
from gemm_lab.counts import Counts

MAX_THREADS = 1024               # in a block, on every GPU since compute capability 2.0
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED_BYTES = 48 * 1024     # static shared memory of a block
MAX_SIZE = 2**31 - 1 - 1024      # of M, N and K: rounded up to a whole tile they must still fit a C++ int


def kernel_file(name: str) -> Path:
    """The path of a course kernel: in the checkout's `kernels/`, or in `gemm_lab/cuda/` of an installed package."""
    here = Path(__file__).parent
    for folder in (here.parent / "kernels", here / "cuda"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"the kernel {name} is neither in {here.parent / 'kernels'} nor in {here / 'cuda'}: "
                            "restore the file (git checkout -- kernels) or install gemm-lab again")


def triple(size, what: str) -> tuple[int, int, int]:
    """A whole number or a tuple of 1 to 3, as (x, y, z)."""
    sizes = tuple(size) if isinstance(size, tuple | list) else (size,)
    if not 1 <= len(sizes) <= 3 or not all(is_whole(n) and n >= 1 for n in sizes):
        raise ValueError(f"{what} is {size!r}; it must be 1 to 3 positive whole numbers (x, y, z)")
    return tuple(int(n) for n in sizes) + (1,) * (3 - len(sizes))


def is_whole(value) -> bool:
    """Whether it is a whole number, Python's or NumPy's; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_sizes(M: int, N: int, K: int) -> tuple[int, int, int]:
    """The sizes as Python's numbers, which never overflow; ValueError unless they are sizes of matrices."""
    return whole("M", M, 1), whole("N", N, 1), whole("K", K, 1)


class GemmKernel:
    """What all GEMM kernels can do. Subclasses give source, entry, block, shared_bytes, label and grid(M, N).

    Every kernel has the signature (int M, int N, int K, float alpha, const float *A, const float *B, float beta,
    float *C) and computes C = alpha*A*B + beta*C on row-major float32 matrices A (M, K), B (K, N), C (M, N).
    """

    def with_source(self, text_or_path: str | Path, label: str | None = None, entry: str | None = None) -> CudaGemm:
        """The same launch geometry with another source: CUDA C++ text, or the path of a file.

        `entry` names the kernel in it if it is not called as it is here.
        """
        return CudaGemm(read_source(text_or_path), entry or self.entry, self.grid, self.block, self.shared_bytes,
                        label or f"{self.label}, edited")

    def edited(self, *changes: tuple[str, str], label: str | None = None) -> CudaGemm:
        """This kernel with pieces of its source replaced: (old, new) pairs; each `old` must occur exactly once."""
        text = self.source
        for old, new in changes:
            if text.count(old) != 1:
                raise ValueError(f"{old!r} occurs {text.count(old)} times in the source of {self.label}; "
                                 "an edit must name a piece that occurs exactly once")
            text = text.replace(old, new)
        return self.with_source(text, label)

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        """The counts derived on paper (`closed_forms`); fields without a derivation are None.

        ValueError unless M, N and K are whole numbers, 1 or more.
        """
        check_sizes(M, N, K)
        return Counts()

    def compile(self, arch: str = "sm_90"):
        """The machine code for a GPU and what it needs: `Compiled`. Needs no GPU."""
        from gemm_lab.compiler import compile_kernel
        return compile_kernel(self.source, self.entry, arch)

    def launch_grid(self, M: int, N: int) -> tuple[int, int, int]:
        """`grid(M, N)` as (x, y, z), checked against the GPU's limits (ValueError)."""
        M, N = whole("M", M, 1), whole("N", N, 1)
        grid = triple(self.grid(M, N), f"the grid of {self.label} for M={M}, N={N}")
        for axis, size, limit in zip("xyz", grid, MAX_GRID, strict=True):
            if size > limit:
                raise ValueError(f"M={M}, N={N} needs {size} blocks along {axis}; a grid has at most {limit} there")
        return grid

    def run(self, A, B, C=None, alpha=1.0, beta=0.0, backend=None, mode="count", schedule="lockstep", step_limit=None,
            trace_block=(0, 0, 0), unoptimized=None, machine_code=True, variables=None):
        """Compute alpha*A*B + beta*C and return a `Run`; the arguments are never changed.

        A (M, K), B (K, N), C (M, N): C-contiguous float32 arrays; C may be left out if beta is 0.
        mode       "count" (default), "check" (also looks for defects), "values" (C only, the fastest), "trace" (also
                   records what one block does, `trace_block`)
        backend    "emulator", "gpu", or None: the emulator, except for mode "values" where a GPU works
        schedule   "lockstep", "warps" or a sequence of warp numbers (emulator only)
        step_limit instructions that one thread may execute (emulator only)
        unoptimized  mode "check": look for defects also in the unoptimised code (None: where the problem is small)
        machine_code False: count the PTX's accesses to shared memory, not the machine's; saves a second compilation
        variables  what the last launch left in the kernel's __device__ variables (emulator only; see `gl.emulate`)

        Raises ValueError for arrays or sizes that do not fit, CompileError for a source that does not compile, NoGpu
        for backend "gpu" without one.
        """
        from gemm_lab import launch
        return launch.run(self, A, B, C, alpha, beta, backend, mode, schedule, step_limit, trace_block, unoptimized,
                          machine_code, variables)


def read_source(text_or_path: str | Path) -> str:
    """CUDA source from a text or from the path of a file. A text is told from a path by its braces or line breaks."""
    if not isinstance(text_or_path, str | Path):
        raise ValueError(f"source is a {type(text_or_path).__name__}; it must be CUDA C++ text or the path of a file")
    if isinstance(text_or_path, str) and ("\n" in text_or_path or "{" in text_or_path):
        return text_or_path
    path = Path(text_or_path)
    if not path.is_file():
        raise FileNotFoundError(f"no kernel source: {str(path)!r} is neither CUDA C++ text nor the path of a file")
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class CudaGemm(GemmKernel):
    """Any kernel with the course's signature.

    source        CUDA C++ text, or the path of a file
    entry         the kernel's name in it: "k", or "k<32>" for a template
    grid          a function (M, N) -> number of blocks: an int or up to three
    block         threads in a block: an int or up to three
    shared_bytes  dynamic shared memory of a block
    label         the name in tables and plots
    """

    source: str = field(repr=False)
    entry: str
    grid: Callable[[int, int], tuple[int, ...]] = field(repr=False)
    block: tuple[int, int, int]
    shared_bytes: int = 0
    label: str = ""

    def __post_init__(self):
        if not callable(self.grid):
            raise ValueError(f"grid is {self.grid!r}; it must be a function of M and N, "
                             "such as lambda M, N: (-(-N // 32), -(-M // 32))")
        whole("shared_bytes", self.shared_bytes, 0)
        if not isinstance(self.entry, str):
            raise ValueError(f"entry is {self.entry!r}; it must be a kernel's name, such as \"k\" or \"k<32>\"")
        object.__setattr__(self, "source", read_source(self.source))
        object.__setattr__(self, "block", checked_block(self.block))
        object.__setattr__(self, "label", self.label or self.entry)


def checked_block(block) -> tuple[int, int, int]:
    """`block` as (x, y, z); ValueError where no GPU could launch it."""
    x, y, z = triple(block, "block")
    if x * y * z > MAX_THREADS:
        raise ValueError(f"block {block} has {x * y * z} threads; a block has at most {MAX_THREADS}")
    if z > 64:
        raise ValueError(f"block {block} has z = {z}; a block has at most 64 along z")
    return x, y, z


class CourseKernel(GemmKernel):
    """A kernel of `kernels/`: `file` and `template` name it, the dataclass fields are its template arguments."""

    file: str
    template: str
    shared_bytes = 0    # the course kernels declare their shared memory statically
    tile_words = 0      # 32-bit words of a block's tiles in shared memory

    @property
    def source(self) -> str:
        """The text of the kernel's file, read anew each time: an edit counts at once."""
        return kernel_file(self.file).read_text(encoding="utf-8")

    @property
    def entry(self) -> str:
        """The kernel's C++ name with its template arguments, such as "shared_tiling<32, 0>"."""
        return f"{self.template}<{', '.join(str(a).lower() for a in self.template_arguments())}>"

    def template_arguments(self) -> tuple:
        """The C++ template arguments, in the order of the declaration."""
        return tuple(getattr(self, f.name) for f in fields(self))

    @property
    def label(self) -> str:
        """A short name for tables, plots and records: fields marked quiet appear only if they are not the default."""
        shown = (f for f in fields(self) if not f.metadata.get("quiet") or getattr(self, f.name) != f.default)
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)}' for f in shown)})"

    def __repr__(self) -> str:
        return self.label


def quiet(default):
    """A field that its kernel's label leaves out while it has the default value."""
    return field(default=default, metadata={"quiet": True})


@dataclass(frozen=True, repr=False)
class Naive(CourseKernel):
    """One thread computes one element, reading A and B from global memory.

    coalesced  True: threadIdx.x walks along a row of C; False: down a column (grid and block are then swapped, too)
    block      threads in a block, (x, y)
    """

    file, template = "01_naive.cu", "naive"
    coalesced: bool = True
    block: tuple[int, int, int] = quiet((32, 32, 1))

    def __post_init__(self):
        yes_or_no("coalesced", self.coalesced)
        object.__setattr__(self, "block", checked_block(self.block))
        if self.block[2] != 1:
            raise ValueError(f"block {self.block} has z = {self.block[2]}; this kernel uses x and y only")

    def template_arguments(self) -> tuple:
        return (self.coalesced,)

    def grid(self, M: int, N: int) -> tuple[int, int, int]:
        """Blocks along x and y."""
        along_x, along_y = (N, M) if self.coalesced else (M, N)
        return blocks_along(along_x, self.block[0]), blocks_along(along_y, self.block[1]), 1

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.naive(M, N, K, beta)


@dataclass(frozen=True, repr=False)
class SharedTiling(CourseKernel):
    """A block of TILE x TILE threads computes TILE x TILE elements from tiles in shared memory.

    TILE  width of the square tiles, 1 to 32: a block has at most 1024 threads
    PAD   unused floats at the end of each row of both tiles
    """

    file, template = "02_shared_tiling.cu", "shared_tiling"
    TILE: int = 32
    PAD: int = quiet(0)

    def __post_init__(self):
        make_whole(self, "TILE", 1)
        make_whole(self, "PAD", 0)
        if self.TILE**2 > MAX_THREADS:
            raise ValueError(f"TILE*TILE = {self.TILE**2} threads; a block has at most {MAX_THREADS}")
        check_shared(f"2*TILE*(TILE+PAD) = 2*{self.TILE}*{self.TILE + self.PAD}", self.tile_words)

    @property
    def tile_words(self) -> int:
        """Words of both tiles in shared memory, padding included."""
        return 2 * self.TILE * (self.TILE + self.PAD)

    @property
    def block(self) -> tuple[int, int, int]:
        return self.TILE, self.TILE, 1

    def grid(self, M: int, N: int) -> tuple[int, int, int]:
        """Blocks along x and y."""
        return blocks_along(N, self.TILE), blocks_along(M, self.TILE), 1

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.shared_tiling(self.TILE, M, N, K, beta)


@dataclass(frozen=True, repr=False)
class RegisterTiling1D(CourseKernel):
    """A block computes BM x BN elements; a thread a strip of TM elements, one below the other.

    BM, BN, BK      the block's tile of A is BM x BK, of B BK x BN
    TM              elements of a thread; BM must be a multiple of it
    strided_loader  True: the tiles are loaded by the usual strided loop, which executes more instructions
    """

    file, template = "03_register_tiling_1d.cu", "register_tiling_1d"
    BM: int = 64
    BN: int = 64
    BK: int = 8
    TM: int = 8
    strided_loader: bool = quiet(False)

    def __post_init__(self):
        for name in ("BM", "BN", "BK", "TM"):
            make_whole(self, name, 1)
        yes_or_no("strided_loader", self.strided_loader)
        if self.BM % self.TM:
            raise ValueError(f"BM = {self.BM} is not a multiple of TM = {self.TM}; strips of TM rows must fill a block")
        if self.threads > MAX_THREADS:
            raise ValueError(f"BM*BN/TM = {self.threads} threads; a block has at most {MAX_THREADS}")
        if self.threads < self.BK:
            raise ValueError(f"BM*BN/TM = {self.threads} threads are fewer than BK = {self.BK}; "
                             "the threads load A's tile by whole rows of BK words")
        check_shared(f"BM*BK + BK*BN = {self.BM}*{self.BK} + {self.BK}*{self.BN}", self.tile_words)

    @property
    def tile_words(self) -> int:
        """Words of both tiles in shared memory."""
        return self.BK * (self.BM + self.BN)

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return self.BM * self.BN // self.TM

    @property
    def block(self) -> tuple[int, int, int]:
        return self.threads, 1, 1

    def grid(self, M: int, N: int) -> tuple[int, int, int]:
        """Blocks along x and y."""
        return blocks_along(N, self.BN), blocks_along(M, self.BM), 1

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.register_tiling_1d(self.BM, self.BN, self.BK, self.TM, M, N, K, beta)


def whole(name: str, value: int, least: int) -> int:
    """`value` as a Python number; ValueError unless it is a whole number of at least `least`."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, {least} or more")
    return int(value)


def make_whole(kernel, name: str, least: int) -> None:
    """Keep a field of a frozen kernel as a Python number; see `whole`."""
    object.__setattr__(kernel, name, whole(name, getattr(kernel, name), least))


def yes_or_no(name: str, value: bool) -> None:
    """ValueError unless `value` is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}; it must be True or False")


def check_shared(formula: str, words: int) -> None:
    """ValueError if tiles of that many words exceed a block's shared memory."""
    if 4 * words > MAX_SHARED_BYTES:
        raise ValueError(f"{formula} = {words} words = {4 * words} bytes of shared memory; "
                         f"a block has at most {MAX_SHARED_BYTES}")
