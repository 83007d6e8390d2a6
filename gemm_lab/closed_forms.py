"""The counts that a student derives on paper: arithmetic only, no compiler and no emulator.

M, N, K are the problem's sizes, the other letters a kernel's tile parameters; lesson 01 derives `naive`, 02
`shared_tiling`, 03 `register_tiling_1d`, 04 `register_tiling_2d`. Words
are 32-bit and counted for each thread that reads them; the tests compare these numbers with what the executed kernel
did.
"""

from __future__ import annotations

from dataclasses import replace

from gemm_lab.counts import Counts


def blocks_along(length: int, tile: int) -> int:
    """Tiles needed to cover `length` elements: the quotient, rounded up."""
    return -(-length // tile)


def naive(M: int, N: int, K: int, beta: float = 0.0) -> Counts:
    """Each of M*N threads reads a row of A and a column of B: 2K words."""
    return Counts(fma=M * N * K + _epilogue(M, N, beta),
                  global_load_words=2 * M * N * K + _epilogue(M, N, beta), global_store_words=M * N,
                  shared_load_words=0, shared_store_words=0, local_load_words=0, local_store_words=0)


def shared_tiling(TILE: int, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
    """Each block walks along K in steps of TILE; in a step each of its TILE*TILE threads takes 2*TILE shared words."""
    steps = blocks_along(K, TILE)
    threads = blocks_along(M, TILE) * blocks_along(N, TILE) * TILE * TILE
    return Counts(fma=threads * steps * TILE + _epilogue(M, N, beta),
                  global_load_words=_tile_loads(TILE, TILE, M, N, K) + _epilogue(M, N, beta),
                  global_store_words=M * N,
                  shared_load_words=threads * steps * 2 * TILE, shared_store_words=threads * steps * 2,
                  local_load_words=0, local_store_words=0)


def register_tiling_1d(BM: int, BN: int, BK: int, TM: int, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
    """In each of BK steps through a tile a thread takes 1 word of Bs and TM words of As, for TM FMAs."""
    steps = blocks_along(K, BK)
    blocks = blocks_along(M, BM) * blocks_along(N, BN)
    thread_steps = blocks * (BM * BN // TM) * steps * BK
    return Counts(fma=thread_steps * TM + _epilogue(M, N, beta),
                  global_load_words=_tile_loads(BM, BN, M, N, K) + _epilogue(M, N, beta),
                  global_store_words=M * N,
                  shared_load_words=thread_steps * (TM + 1),
                  shared_store_words=blocks * steps * (BM * BK + BK * BN),
                  local_load_words=0, local_store_words=0)


def pipelined_1d(BM: int, BN: int, BK: int, TM: int, STAGES: int, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
    """The words of `register_tiling_1d`; but STAGES - 1 tiles are copied beyond the end of K, which are zeros."""
    tiles = blocks_along(M, BM) * blocks_along(N, BN) * (blocks_along(K, BK) + STAGES - 1)
    return replace(register_tiling_1d(BM, BN, BK, TM, M, N, K, beta), shared_store_words=tiles * BK * (BM + BN))


def register_tiling_2d(BM: int, BN: int, BK: int, TM: int, TN: int, M: int, N: int, K: int,
                       beta: float = 0.0) -> Counts:
    """In each of BK steps through a tile a thread takes TM words of As and TN of Bs, for TM*TN FMAs."""
    steps = blocks_along(K, BK)
    blocks = blocks_along(M, BM) * blocks_along(N, BN)
    thread_steps = blocks * (BM * BN // (TM * TN)) * steps * BK
    return Counts(fma=thread_steps * TM * TN + _epilogue(M, N, beta),
                  global_load_words=_tile_loads(BM, BN, M, N, K) + _epilogue(M, N, beta),
                  global_store_words=M * N,
                  shared_load_words=thread_steps * (TM + TN),
                  shared_store_words=blocks * steps * (BM * BK + BK * BN),
                  local_load_words=0, local_store_words=0)


def pipelining(BM: int, BN: int, BK: int, TM: int, TN: int, M: int, N: int, K: int, beta: float = 0.0) -> Counts:
    """The words of `register_tiling_2d`; but beyond an edge of C the last row of A is read instead, and where rows of B
    are aligned (N % 4 == 0) its last four columns."""
    high, wide = blocks_along(M, BM), blocks_along(N, BN)
    loads = wide * high * BM * K + high * K * (wide * BN if N % 4 == 0 else N)
    counts = register_tiling_2d(BM, BN, BK, TM, TN, M, N, K, beta)
    return replace(counts, global_load_words=loads + _epilogue(M, N, beta))


def sliced_k(BM: int, BN: int, BK: int, TM: int, TN: int, SLICES: int, M: int, N: int, K: int,
             beta: float = 0.0) -> Counts:
    """The words of `pipelining`; and all teams but the first hand their sums over, a word for each element."""
    counts = pipelining(BM, BN, BK, TM, TN, M, N, K, beta)
    handed = blocks_along(M, BM) * blocks_along(N, BN) * (SLICES - 1) * BM * BN
    return replace(counts, shared_load_words=counts.shared_load_words + handed,
                   shared_store_words=counts.shared_store_words + handed)


def split_k(BM: int, BN: int, BK: int, TM: int, TN: int, SPLITS: int, tiles: int, M: int, N: int, K: int,
            beta: float = 0.0) -> Counts:
    """The words of `pipelining`, where SPLITS blocks compute each of so many `tiles`.

    Each of these blocks takes one step at least, of zeros where no part of K is left for it. It stores its sums, and
    says in shared memory to each of its threads whether it is the last; the last one reads all sums and sets the tile's
    counter back.
    """
    counts = pipelining(BM, BN, BK, TM, TN, M, N, K, beta)
    steps, threads = blocks_along(K, BK), BM * BN // (TM * TN)
    part = blocks_along(steps, SPLITS)
    idle = tiles * sum(steps <= piece * part for piece in range(SPLITS))    # steps of zeros
    pieces = tiles * SPLITS
    return replace(counts, fma=counts.fma + idle * BM * BN * BK,
                   global_load_words=counts.global_load_words + pieces * BM * BN,
                   global_store_words=counts.global_store_words + pieces * BM * BN + tiles,
                   shared_load_words=counts.shared_load_words + pieces * threads + idle * threads * BK * (TM + TN),
                   shared_store_words=counts.shared_store_words + pieces + idle * BK * (BM + BN))


def _tile_loads(BM: int, BN: int, M: int, N: int, K: int) -> int:
    """Words of A and B read from global memory when a block computes BM x BN of C.

    All of A is read once for each column of blocks, all of B once for each row of blocks; elements beyond an edge are
    not read.
    """
    return blocks_along(N, BN) * M * K + blocks_along(M, BM) * K * N


def _epilogue(M: int, N: int, beta: float) -> int:
    """One read of C and one FMA for each element where beta is not 0."""
    return M * N if beta != 0 else 0
