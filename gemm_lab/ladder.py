"""The course's kernels from 03b on: the best 1D, 2D tiles, and every step from there to cuBLAS and past it.

As in `kernels`, a class is an algorithm, and its fields are the C++ template arguments in their order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from gemm_lab import closed_forms
from gemm_lab.closed_forms import blocks_along
from gemm_lab.counts import Counts
from gemm_lab.kernels import MAX_SHARED_BYTES, MAX_THREADS, CourseKernel, check_sizes, make_whole, quiet, yes_or_no

WARP_ROWS, WARP_COLS = 4, 8      # how a warp's lanes are arranged from kernel 05 on
WORKSPACE_WORDS, WORKSPACE_TILES = 4 << 20, 1 << 10    # what SplitK has for the sums of shared tiles
MOST = {"SPLITS": 16, "BLOCKS": 32, "STRIP": 1 << 15}    # the last block's sum is unrolled; an SM holds 32 blocks
PAD = 4                          # words between the columns of the transposed tile of A


class TiledKernel(CourseKernel):
    """A kernel whose blocks compute BM x BN elements each. Subclasses say how many threads that takes."""

    def __post_init__(self):
        for f in fields(self):
            if f.type == "int":
                make_whole(self, f.name, 0 if f.name in ("ORDER", "share") else 1)
                most = MOST.get(f.name)
                must(most is None or getattr(self, f.name) <= most,
                     f"{f.name} = {getattr(self, f.name)}; it may be {most} at most")
            else:
                yes_or_no(f.name, getattr(self, f.name))
        self.check_tiles()
        must(self.threads <= MAX_THREADS, f"{self.threads} threads; a block has at most {MAX_THREADS}")
        words = self.tile_words
        must(4 * words <= MAX_SHARED_BYTES, f"the tiles take {words} words = {4 * words} bytes of shared memory; "
             f"a block has at most {MAX_SHARED_BYTES}")

    def check_tiles(self) -> None:
        """ValueError where the tile parameters do not fit together; the kernel's static_asserts say the same."""

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return self.BM * self.BN // (self.TM * self.TN)

    @property
    def block(self) -> tuple[int, int, int]:
        return self.threads, 1, 1

    def grid(self, M: int, N: int) -> tuple[int, int, int]:
        """Blocks along x and y."""
        return blocks_along(N, self.BN), blocks_along(M, self.BM), 1


def must(condition: bool, message: str) -> None:
    """ValueError with this message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def multiple(name: str, number: int, of: str, divisor: int, why: str) -> None:
    """ValueError unless `number` is a multiple of `divisor`."""
    it = of if of == str(divisor) else f"{of} = {divisor}"
    must(divisor > 0 and number % divisor == 0, f"{name} = {number} is not a multiple of {it}; {why}")


@dataclass(frozen=True, repr=False)
class PipelinedTiling1D(TiledKernel):
    """Strips of TM elements as in `RegisterTiling1D`, while the next tiles are copied: the best 1D kernel.

    BM, BN, BK   the block's tile of A is BM x BK, of B BK x BN
    TM           elements of a thread, one below the other
    STAGES       tiles in shared memory: one is read, the others are under way
    BLOCKS       so many blocks at least must fit on an SM
    """

    file, template = "03b_pipelined_1d.cu", "pipelined_1d"
    TN = 1
    BM: int = 64
    BN: int = 128
    BK: int = 32
    TM: int = 64
    STAGES: int = quiet(2)
    BLOCKS: int = quiet(3)

    def check_tiles(self) -> None:
        multiple("BM", self.BM, "TM", self.TM, "strips of TM rows must fill a block")
        must(self.STAGES >= 2, f"STAGES = {self.STAGES}; one tile is read while another arrives: at least 2")
        check_fours(self)
        multiple("4*threads", 4 * self.threads, "BK", self.BK, "the threads together copy whole rows of A's tile")
        multiple("4*threads", 4 * self.threads, "BN", self.BN, "the threads together copy whole rows of B's tile")

    @property
    def tile_words(self) -> int:
        """Words of all tiles in shared memory."""
        return self.STAGES * self.BK * (self.BM + self.BN)

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.pipelined_1d(self.BM, self.BN, self.BK, self.TM, self.STAGES, M, N, K, beta)


@dataclass(frozen=True, repr=False)
class RegisterTiling2D(TiledKernel):
    """A thread computes a tile of TM x TN elements: in each of BK steps an outer product of TM and TN words.

    BM, BN, BK   the block's tile of A is BM x BK, of B BK x BN
    TM, TN       elements of a thread along a column and along a row
    """

    file, template = "04_register_tiling_2d.cu", "register_tiling_2d"
    BM: int = 128
    BN: int = 128
    BK: int = 8
    TM: int = 8
    TN: int = 8

    def check_tiles(self) -> None:
        multiple("BM", self.BM, "TM", self.TM, "the threads' tiles must fill the block's")
        multiple("BN", self.BN, "TN", self.TN, "the threads' tiles must fill the block's")
        check_fours(self)

    @property
    def tile_words(self) -> int:
        """Words of both tiles in shared memory."""
        return self.BK * (self.BM + self.BN)

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.register_tiling_2d(self.BM, self.BN, self.BK, self.TM, self.TN, M, N, K, beta)


@dataclass(frozen=True, repr=False)
class WarpTiling(RegisterTiling2D):
    """`RegisterTiling2D` with rows and columns dealt to a warp's lanes such that they read in fewer wavefronts."""

    file, template = "05_warp_tiling.cu", "warp_tiling"

    def check_tiles(self) -> None:
        check_warp_tiles(self)
        check_fours(self)

    @property
    def tile_words(self) -> int:
        """Words of both tiles in shared memory, padding included."""
        return self.BK * (self.BM + PAD + self.BN)


@dataclass(frozen=True, repr=False)
class Pipelining(TiledKernel):
    """`WarpTiling` while the next tiles are copied asynchronously, and the next operands fetched.

    BM, BN, BK, TM, TN   as for `RegisterTiling2D`
    STAGES, BLOCKS       as for `PipelinedTiling1D`
    """

    file, template = "06_pipelining.cu", "pipelining"
    BM: int = 128
    BN: int = 128
    BK: int = 8
    TM: int = 8
    TN: int = 8
    STAGES: int = quiet(3)
    BLOCKS: int = quiet(2)

    def check_tiles(self) -> None:
        check_pipeline(self)

    @property
    def tile_words(self) -> int:
        """Words of all tiles in shared memory, padding included."""
        return self.STAGES * self.BK * (self.BM + PAD + self.BN)

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.pipelining(self.BM, self.BN, self.BK, self.TM, self.TN, M, N, K, beta)


@dataclass(frozen=True, repr=False)
class Reordering(Pipelining):
    """`Pipelining` with the same work in another order, in a thread and among the blocks.

    ORDER   0: the products of a thread row by row; 1: to and fro along the rows; 2: to and fro along the columns
    STRIP   blocks are numbered down strips of STRIP rows of blocks
    """

    file, template = "07_reordering.cu", "reordering"
    BM: int = 64
    BN: int = 128
    BK: int = 16
    STAGES: int = quiet(2)
    BLOCKS: int = quiet(4)
    ORDER: int = quiet(1)
    STRIP: int = quiet(8)

    def check_tiles(self) -> None:
        super().check_tiles()
        must(self.ORDER <= 2, f"ORDER = {self.ORDER}; it must be 0, 1 or 2")


@dataclass(frozen=True, repr=False)
class SlicedK(TiledKernel):
    """SLICES teams of a block compute the same elements of C, each for its share of every tile's values of k.

    BM, BN, BK, TM, TN, STAGES, BLOCKS   as for `Pipelining`
    DOWN                                 a thread goes to and fro along the columns; else along the rows
    """

    file, template = "08_sliced_k.cu", "sliced_k"
    BM: int = 64
    BN: int = 64
    BK: int = 32
    TM: int = 8
    TN: int = 8
    STAGES: int = quiet(2)
    SLICES: int = 4
    BLOCKS: int = quiet(2)
    DOWN: bool = quiet(True)

    def check_tiles(self) -> None:
        multiple("BK", self.BK, "2*SLICES", 2 * self.SLICES, "a team takes an even number of values of k")
        check_pipeline(self)

    threads = property(lambda self: self.BM * self.BN // (self.TM * self.TN) * self.SLICES, doc="Threads in a block.")
    tile_words = Pipelining.tile_words

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.sliced_k(self.BM, self.BN, self.BK, self.TM, self.TN, self.SLICES, M, N, K, beta)


@dataclass(frozen=True, repr=False)
class SplitK(Pipelining):
    """`Reordering` in which SPLITS blocks share a tile of C, and each takes its part of K.

    DOWN    as for `SlicedK`
    share   0: all tiles are shared; n: those beyond the last multiple of n, so that whole rounds of n blocks, one for
            each SM, compute tiles of their own

    Sums of shared tiles lie in 16 MB of the GPU's memory: two launches of one such kernel must not run at once.
    """

    file, template = "09_split_k.cu", "split_k"
    BM: int = 64
    BN: int = 128
    BK: int = 16
    STAGES: int = quiet(2)
    BLOCKS: int = quiet(4)
    DOWN: bool = quiet(False)
    SPLITS: int = 4
    share: int = 0

    def template_arguments(self) -> tuple:
        """All fields but `share`, which the grid tells the kernel."""
        return super().template_arguments()[:-1]

    def shared_tiles(self, M: int, N: int) -> int:
        """How many tiles of C are computed by SPLITS blocks each."""
        tiles = blocks_along(M, self.BM) * blocks_along(N, self.BN)
        return 0 if self.SPLITS == 1 else tiles % self.share if self.share else tiles

    def counts(self, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
        M, N, K = check_sizes(M, N, K)
        return closed_forms.split_k(self.BM, self.BN, self.BK, self.TM, self.TN, self.SPLITS,
                                    self.shared_tiles(M, N), M, N, K, beta)

    def grid(self, M: int, N: int) -> tuple[int, int, int]:
        """Blocks along x alone. ValueError where the sums of shared tiles exceed the workspace."""
        tiles, shared = blocks_along(M, self.BM) * blocks_along(N, self.BN), self.shared_tiles(M, N)
        words = shared * self.SPLITS * self.BM * self.BN
        must(words <= WORKSPACE_WORDS and shared <= WORKSPACE_TILES,
             f"M={M}, N={N}: {shared} tiles are shared by {self.SPLITS} blocks each, whose sums take {words} words; "
             f"the workspace has {WORKSPACE_WORDS} for {WORKSPACE_TILES} tiles: choose fewer SPLITS or another share")
        return tiles + shared * (self.SPLITS - 1), 1, 1


# --- what the kernels' static_asserts say, in Python

def check_fours(kernel) -> None:
    """ValueError unless every thread loads as many fours of words of both tiles."""
    multiple("BK", kernel.BK, "4", 4, "words are loaded by fours")
    multiple("BN", kernel.BN, "4", 4, "words are loaded by fours")
    fours = 4 * kernel.threads
    multiple("BM*BK", kernel.BM * kernel.BK, "4*threads", fours, "every thread loads as many fours of A's tile")
    multiple("BK*BN", kernel.BK * kernel.BN, "4*threads", fours, "every thread loads as many fours of B's tile")


def check_warp_tiles(kernel) -> None:
    """ValueError unless warps of 4 x 8 threads, whose rows and columns come in fours, fill a block."""
    multiple("TM", kernel.TM, "4", 4, "a thread's rows come in fours")
    multiple("TN", kernel.TN, "4", 4, "a thread's columns come in fours")
    multiple("BM", kernel.BM, "4*TM", WARP_ROWS * kernel.TM, "the warps' tiles must fill the block's")
    multiple("BN", kernel.BN, "8*TN", WARP_COLS * kernel.TN, "the warps' tiles must fill the block's")


def check_pipeline(kernel) -> None:
    """ValueError unless 8 threads copy a row of A's tile, BN/4 one of B's, and every thread as much."""
    check_warp_tiles(kernel)
    must(kernel.STAGES >= 2, f"STAGES = {kernel.STAGES}; one tile is read while another arrives: at least 2")
    multiple("BK", kernel.BK, "8", 8, "8 threads copy a row of A's tile")
    multiple("BM", kernel.BM, "threads/8", kernel.threads // 8, "every thread copies as many words of A's tile")
    multiple("BK", kernel.BK, "4*threads/BN", 4 * kernel.threads // kernel.BN,
             "every thread copies as much of B's tile")
