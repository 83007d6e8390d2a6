"""Exercises for lesson 01: words and wavefronts on paper, a line to find, a grid, a guard, and a kernel."""

from __future__ import annotations

from functools import cache

import numpy as np

import gemm_lab as gl
from gemm_lab.closed_forms import blocks_along
from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.choice_tasks import Lines
from gemm_lab.exercises.formula_tasks import Formula, Grid, Number
from gemm_lab.exercises.kernel_tasks import Kernel
from gemm_lab.exercises.sheets import cuda, renamed
from gemm_lab.exercises.tasks import Mistake, Numbers

# --- words

WORDS_MOVED = {     # access -> formula
    "read, when beta is not 0": "2*M*N*K + M*N",
    "read, when beta is 0": "2*M*N*K",
    "read and written, when beta is not 0": "2*M*N*K + 2*M*N",
}


def words_moved(s: Numbers, M: int, N: int, K: int) -> int:
    """From the closed forms of the naive kernel."""
    counts = gl.Naive().counts(M, N, K, beta=0.0 if s.access.endswith("is 0") else 1.0)
    return counts.global_load_words + ("written" in s.access) * counts.global_store_words


WORDS = Formula(
    name="words", points=2, asked="a formula in M, N and K, in quotes, such as \"M*N + K\"", truth=words_moved,
    solution=lambda s: f'"{WORDS_MOVED[s.access]}"',
    units={4: "bytes", 1 / 32: "requests of whole warps, if each were for 32 words"},
    mistakes=(
        Mistake("other-epilogue", lambda s: "2*M*N*K" if s.access != "read, when beta is 0" else "2*M*N*K + M*N",
                "The loop is right. Look at the last line of the kernel: what does it do with C at this beta?"),
        Mistake("one-thread", "2*K", "That is one thread. There are as many as elements of C."),
        Mistake("least", "M*K + K*N", "That is every element once. The threads ask for each of them many times over."),
        Mistake("one-matrix", "M*N*K", "In each round of the loop a thread reads a word of A and a word of B."),
        Mistake("square-only", "2*N**3", "It holds for square matrices only.")),
    hint="How many words does one thread read, and how many threads are there?")

# --- wavefronts


@cache
def wavefronts(order: str, bx: int) -> float:
    """Load wavefronts per warp-FMA of the naive kernel, from the emulator."""
    X = np.ones((64, 64), np.float32)
    counts = gl.Naive(coalesced=order == "along a row of C", block=(bx, 256 // bx)).run(X, X).counts
    return counts.global_load_wavefronts / (counts.fma / 32)


def rows_of_a_warp(s: Numbers) -> int:
    return 32 // s.bx if s.order == "along a row of C" else s.bx


def w_solution(s: Numbers) -> str:
    return f"32 / {s.bx} + 1" if s.order == "along a row of C" else f"{s.bx} + 1"


W = Number(
    name="w", points=3, asked="a number, or arithmetic such as 7 * 60 / 4", truth=lambda s: wavefronts(s.order, s.bx),
    solution=w_solution, units={32: "counted for each lane", 0.5: "the average of the two loads; w has both of them"},
    mistakes=(
        Mistake("other-order", lambda s: 32 // rows_of_a_warp(s) + 1, "That is the other order. Which way do the 32 "
                                                                      "lanes of "
                "a warp go through C, and how many rows of it do they touch?"),
        Mistake("only-a", rows_of_a_warp, "That is the load of A. The load of B takes the pipe's time, too."),
        Mistake("words", 64,
                "These are the words that 32 lanes ask for. A wavefront brings all that lies in one line."),
        Mistake("coalesced", lambda s: 2 if rows_of_a_warp(s) != 1 else None, "Two wavefronts are right for a warp "
                                                                              "that lies "
                "in one row of C. This block is narrower, or lies the other way."),
        Mistake("b-for-each-row", lambda s: 2 * rows_of_a_warp(s) if rows_of_a_warp(s) > 1 else None,
                "The rows of a warp "
                "share the line of B: the same columns, and the same k.")),
    hint="Write down row and column of C for lanes 0 to 31. How many rows of A do they read from, and how many lines "
         "of B?")

# --- the cap


def cap(s: Numbers) -> float:
    return gl.gpus[s.gpu].lsu_tflops_cap(s.wavefronts)


CAP = Number(
    name="cap", points=2, asked="TFLOPS, a number or arithmetic", truth=cap, tolerance=0.01,
    solution=lambda s: repr(round(cap(s), 3)),
    units={1e3: "GFLOPS", 1e12: "FLOPS", 1e-3: "off by a thousand: clocks in MHz or GHz?"},
    mistakes=(
        Mistake("h200", lambda s: 16.73 / s.wavefronts, "16.7 belongs to the H200: its 132 SMs and its clock."),
        Mistake("times-w", lambda s: cap(s) * s.wavefronts**2, "More wavefronts for an FMA mean fewer FMAs, not more."),
        Mistake("fma-for-flop", lambda s: cap(s) / 2, "A warp-FMA is 32 multiplications and 32 additions."),
        Mistake("one-lane", lambda s: cap(s) / 32, "That counts one lane. A warp-FMA has 32."),
        Mistake("peak", lambda s: gl.gpus[s.gpu].peak_fp32_tflops / s.wavefronts, "The peak over w: that would hold if "
                                                                                  "an "
                "SM passed as many wavefronts in a clock as it issues FMAs."),
        Mistake("w-forgotten", lambda s: cap(s) * s.wavefronts, "That is the cap for w = 1.")),
    hint="Per clock, an SM of this GPU passes gl.gpus[gpu].wavefronts_per_clk_per_sm wavefronts; w of them make one "
         "warp-FMA "
         "of 64 FLOP.")

# --- a line to find

NAMES = ({}, {"row": "i", "col": "j", "acc": "sum"}, {"row": "y", "col": "x", "c": "out", "acc": "dot"},
         {"row": "r", "col": "s", "acc": "total", "c": "to"})
SUSPECTS = (    # right, wrong
    ("B[(size_t)k * N + col]", "B[(size_t)k * K + col]"),
    ("C + (size_t)row * N + col", "C + (size_t)row * M + col"),
    ("k < K", "k < N"),
    ("row >= M || col >= N", "row >= N || col >= M"))
INNOCENT = (
    ("const int row", "row", "rows go with y, as the grid does; nothing is wrong with it."),
    ("const int col", "column", "columns go with x, as the grid does; nothing is wrong with it."),
    ("return;", "guard", "the guard keeps away every thread beyond an edge. M is the number of rows, N of columns."),
    ("float acc", "sum", "the sum starts at 0, as it should."),
    ("for (int k", "loop", "the loop takes each of the K products once."),
    ("acc +=", "product", "row after row, A is K long and B is N long: this line says so."),
    ("float *c", "address", "C has N elements in a row: this line says so."),
    ("*c = beta", "epilogue", "what is stored is right, at beta = 0 and elsewhere. Where is it stored, and what is "
                              "acc?"),
    ("__global__", "signature", "this is the signature that all kernels of the course have."),
    ("}", "brace", "a closing brace."))


def suspect_text(s: Numbers) -> str:
    right, wrong = SUSPECTS[s.suspect]
    return renamed(cuda("element.cu").replace("element", "suspect").replace(right, wrong), NAMES[s.names])


def notes(s: Numbers):
    return [(renamed(piece, NAMES[s.names]), kind, message) for piece, kind, message in INNOCENT]


SUSPECT = Lines(
    name="suspect", points=2, asked="the number of one line", text=suspect_text, notes=notes,
    truth=lambda s: [renamed(SUSPECTS[s.suspect][1], NAMES[s.names])],
    solution=lambda s: str(min(SUSPECT.wanted(s))),
    hint="Try the kernel in your head with M = 2, N = 3, K = 5.")

# --- the grid


def grid(s: Numbers, M: int, N: int) -> tuple[int, int]:
    return blocks_along(N, s.tx), blocks_along(M, s.ty * s.rows)


GRID = Grid(
    name="grid", points=2, asked="two formulas in M and N, in quotes: (\"…\", \"…\")", truth=grid,
    solution=lambda s: f'("(N + {s.tx - 1}) // {s.tx}", "(M + {s.ty * s.rows - 1}) // {s.ty * s.rows}")')

# --- a guard to repair

GUARDS = ("row * col >= M * N", "row >= M && col >= N", "row >= M || col > N", "row >= N || col >= M")


def guard_text(s: Numbers) -> str:
    text = regions.planted(cuda("element.cu").replace("element", "guard"), "row >= M || col >= N", GUARDS[s.broken])
    return renamed(text, NAMES[s.names])


GUARD = Kernel(
    name="guard", points=3, text=guard_text, repairs=1, sizes=((5, 3, 19), (17, 33, 7), (40, 9, 20), (16, 16, 16)),
    like=lambda s: gl.Naive(block=(16, 16)).with_source(cuda("element.cu"), entry="guard"), solution=guard_text,
    advice={"out-of-bounds": "A thread beyond an edge got through. For which row and col shall a thread do nothing?",
            "wrong-values": "Some thread that has an element of C was sent away. For which row and col shall a thread "
                            "work?"})

# --- a kernel of one's own

FLATS = ("flat.cu", "flat_stride.cu", "flat_pairs.cu")
THREADS = 96


def flat_grid(s: Numbers):
    def blocks(M: int, N: int) -> int:
        return (blocks_along(M * N, THREADS), 5, blocks_along(M * N, 2 * THREADS))[s.flat]
    return gl.CudaGemm(cuda("element.cu"), "flat", blocks, THREADS)


def flat_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    """A warp of 32 neighbours lies in few rows, so it touches few lines of A and of B."""
    warps = blocks_along(M * N, 32) + 5
    lines = 2 * (31 // N + 2) + 2
    return {"global_load_words": 2 * M * N * K, "global_load_wavefronts": lines * warps * K}


FLAT = Kernel(
    name="flat", points=6, text=lambda s: cuda(FLATS[s.flat]), like=flat_grid, budgets=flat_budget,
    solution=lambda s: cuda(FLATS[s.flat]), sizes=((1, 1, 1), (5, 3, 19), (37, 41, 7), (7, 120, 9)),
    advice={"global_load_wavefronts": "Right, and slow: do the lanes of a warp have neighbours in a row of C, or in a "
                                      "column?",
            "global_load_words": "Right, and it reads more than 2K words for an element.",
            "wrong-values": "Which row and column has element t, if a row has N elements? And does every element have "
                            "a thread?",
            "race": "Two threads have the same element; each is computed exactly once.",
            "out-of-bounds": "An index leaves its array. Is every row below M and every column below N, and what do "
            "the threads of the last block do that have no element?"},
    hint="An element of C is computed exactly once.")

ASSIGNMENT = Assignment(
    lesson="01", title="Naive", tasks=(WORDS, W, CAP, SUSPECT, GRID, GUARD, FLAT),
    shown={"access": "read, when beta is not 0", "order": "down a column of C", "bx": 16, "gpu": "RTX A6000",
           "wavefronts": 3, "tx": 16, "ty": 8, "rows": 4},
    others={"access": ("read, when beta is 0", "read and written, when beta is not 0"),
            "order,bx": (("along a row of C", 1), ("down a column of C", 8), ("along a row of C", 4),
                         ("along a row of C", 16), ("down a column of C", 4)),
            "gpu,wavefronts": (("T4", 5), ("A100 SXM 40 GB", 9), ("RTX 3090", 5), ("L4", 2), ("H100 SXM", 9)),
            "tx,ty,rows": ((32, 4, 2), (64, 2, 5), (8, 16, 3), (32, 8, 6))},
    forms={"names": 4, "suspect": 4, "broken": 4, "flat": 3},
    meaning={"access": "which words task 1 asks for", "order": "which way threadIdx.x walks, in task 2",
             "bx": "threads along x in a block, in task 2", "gpu": "in task 3", "wavefronts": "w in task 3",
             "tx": "threads along x, in task 5", "ty": "threads along y, in task 5",
             "rows": "rows of C that one thread computes, in task 5"})
