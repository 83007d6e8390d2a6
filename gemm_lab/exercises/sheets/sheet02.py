"""Exercises for lesson 02: words of a rectangular tile, banks, races to find, to show and to mend, two kernels."""

from __future__ import annotations

import re
from math import gcd

import gemm_lab as gl
from gemm_lab.closed_forms import blocks_along
from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.choice_tasks import Lines
from gemm_lab.exercises.formula_tasks import Formula
from gemm_lab.exercises.function_tasks import Function
from gemm_lab.exercises.kernel_tasks import Kernel, Order
from gemm_lab.exercises.sheets import cuda, renamed
from gemm_lab.exercises.tasks import Mistake, Numbers

# --- words


def tile_loads(TX: int, TY: int, M: int, N: int, K: int) -> int:
    """All of A is read once for each column of blocks, all of B once for each row of blocks."""
    return blocks_along(N, TX) * M * K + blocks_along(M, TY) * K * N


TILE_WORDS = Formula(
    name="tile_words", points=2, asked="a formula in M, N, K, TX and TY, in quotes; ceil(x) rounds up",
    truth=lambda s, M, N, K: tile_loads(s.TX, s.TY, M, N, K),
    solution=lambda s: f'"ceil(N/{s.TX})*M*K + ceil(M/{s.TY})*K*N"', units={4: "bytes"},
    mistakes=(
        Mistake("width-and-height-exchanged", "ceil(N/TY)*M*K + ceil(M/TX)*K*N", "Which size of the tile says how many "
                "threads share a word of A: those along a row, or those down a column?"),
        Mistake("naive", "2*M*N*K", "That is the naive kernel, in which nobody shares."),
        Mistake("shared-words", "2*ceil(M/TY)*ceil(N/TX)*TX*TY*K", "These are the words that the threads take from the "
                                                                   "tiles; "
                "asked are those from global memory."),
        Mistake("least", "M*K + K*N", "That is every element once, as if one block did everything."),
        Mistake("one-size", "ceil(N/TX)*M*K + ceil(M/TX)*K*N", "The tile is no square: rows of blocks are TY high."),
        Mistake("only-a", "ceil(N/TX)*M*K", "That is A. B is read, too.")),
    hint="How many columns of blocks are there, and does each of them read all of A?")

# --- banks


def column_words(rows: int, width: int) -> set[int]:
    """The words to which the lanes of a warp store a piece of `rows` rows of a tile, down its columns."""
    return {lane % rows * width + lane // rows for lane in range(32)}


def wavefronts(rows: int, width: int) -> int:
    banks = [word % 32 for word in column_words(rows, width)]
    return max(map(banks.count, banks))


def column_solution(s: Numbers) -> str:
    return f'''def column(width):
    banks = [(lane % {s.lanes} * width + lane // {s.lanes}) % 32 for lane in range(32)]
    return max(banks.count(bank) for bank in banks)'''


COLUMN = Function(
    name="column", points=3, asked="about 2 lines: the banks of the 32 lanes, and how many lanes the busiest bank has",
    truth=lambda s, width: wavefronts(s.lanes, width), solution=column_solution,
    inputs=(32, 33, 34, 36, 40), hidden=(35, 38, 44, 48, 64, 80),
    mistakes=(
        Mistake("only-multiples", lambda s, width: s.lanes if width % 32 == 0 else 1, "Width 32 is not the only bad "
                                                                                      "one. Write "
                "the banks of the first lanes for width 40."),
        Mistake("always-free", lambda s, width: 1, "Lanes that go down a column do not lie side by side."),
        Mistake("always-32", lambda s, width: 32,
                "That holds if all lanes meet in one bank. For which widths do they?"),
        Mistake("remainder", lambda s, width: width % 32, "The remainder says how far the bank moves from lane to "
                                                          "lane; how "
                "many lanes come back to the same bank?"),
        Mistake("banks-for-lanes", lambda s, width: len({w % 32 for w in column_words(s.lanes, width)}),
                "That is how many "
                "banks are hit. Wavefronts are what the busiest of them must do."),
        Mistake("other-shape", lambda s, width: gcd(width, 32) if s.lanes != 32 else gcd(width, 16),
                "How many lanes go down "
                "one column, and how many columns are there? A bank number is a remainder by 32.")),
    hint="Lane i stores to word i % lanes * width + i // lanes. Which bank is that, and how many lanes share the "
         "busiest one?")

# --- a race to find

NAMES = ({}, {"tx": "x", "ty": "y", "acc": "sum"}, {"row": "i", "col": "j", "acc": "dot"}, {"As": "At", "Bs": "Bt"})
FIRST = "        __syncthreads();  // before anyone reads the tiles"
SECOND = "        __syncthreads();  // before anyone overwrites them"
STORE_A, STORE_B, PRODUCT = "As[ty][tx] =", "Bs[ty][tx] =", "acc +="


def moved(text: str, line: str, after: str) -> str:
    """The text with the line that holds one piece moved behind the line that holds another, and no comments."""
    lines = text.split("\n")
    moving = next(one for one in lines if line in one)
    lines.remove(moving)
    lines.insert(1 + next(n for n, one in enumerate(lines) if after in one), moving)
    return re.sub(r" *//.*", "", "\n".join(lines))


def race_text(s: Numbers) -> str:
    text = cuda("tiled.cu").replace("void tiled", "void race")
    if s.race == 0:
        return renamed(moved(text, STORE_B, FIRST), NAMES[s.names])
    # One line more, so that none has its number of the public version.
    apart = text.replace(", col =", ";\n    const int col =")
    return renamed(moved(apart, STORE_A if s.race == 1 else SECOND, FIRST), NAMES[s.names])


def race_lines(s: Numbers) -> list[str]:
    pieces = ((STORE_B, PRODUCT), (STORE_A, PRODUCT), (STORE_A, STORE_B, PRODUCT))[s.race]
    return [renamed(piece, NAMES[s.names]) for piece in pieces]


def race_notes(s: Numbers):
    notes = (("__syncthreads", "barrier", "a barrier does not race. Which accesses does it fail to keep apart?"),
             (STORE_A, "wrong-tile", "follow this tile from its store to its reads: is there a barrier on the way, "
                                     "also from "
              "the reads to the next store?"),
             (STORE_B, "wrong-tile", "follow this tile from its store to its reads: is there a barrier on the way, "
                                     "also from "
              "the reads to the next store?"),
             ("*c =", "own-element", "every thread has an element of C of its own."),
             ("float acc", "own-register", "every thread has its own; nobody else can touch it."),
             ("__shared__", "declaration", "this declares the tiles and touches no word of them."),
             ("", "no-access", "no word of shared memory is touched here."))
    return [(renamed(piece, NAMES[s.names]), kind, message) for piece, kind, message in notes]


RACE = Lines(
    name="race", points=3, asked="numbers of lines, such as {3, 14}", text=race_text, truth=race_lines,
    notes=race_notes,
    solution=lambda s: "{" + ", ".join(map(str, sorted(RACE.wanted(s)))) + "}",
    hint="A race takes two accesses to one word of shared memory with no barrier between them, one of them a store.")

# --- a race to provoke

# The warp that loads, and the barrier that is missing.
RELAYS = ((2, "second"), (1, "second"), (1, "first"), (2, "first"))


def relay_text(s: Numbers) -> str:
    loader, missing = RELAYS[s.relay]
    text = cuda("relay.cu").replace("LOADER", str(loader)).replace(f"        __syncthreads();  // {missing}\n", "")
    return re.sub(r"  // (first|second)", "", text)


def relay_solution(s: Numbers) -> str:
    loader, missing = RELAYS[s.relay]
    others = [warp for warp in range(4) if warp != loader]
    last, first = [*others, loader], [loader, *others]
    return str((last, first) if missing == "second" else (first, last))


ORDER = Order(
    name="order", points=3, asked="two orders of the warps 0 to 3: (one that hides the race, one that shows it)",
    text=relay_text, solution=relay_solution, like=lambda s: gl.CudaGemm(cuda("relay.cu"), "relay", _one_tile, (16, 8)),
    hint="One warp loads for all. When must it run, so that nobody reads a tile too early or too late?")


def _one_tile(M: int, N: int) -> tuple[int, int]:
    return blocks_along(N, 16), blocks_along(M, 8)


# --- a kernel to mend

STORES_A = "As[ty][tx] = row < M && k0 + tx < K ? A[(size_t)row * K + k0 + tx] : 0.0f;"
DEFECTS = (     # right, wrong
    (STORES_A, "if (row < M && k0 + tx < K) As[ty][tx] = A[(size_t)row * K + k0 + tx];"),
    ("__syncthreads();  // before anyone overwrites them", "__syncwarp();  // before anyone overwrites them"),
    ("k0 < K; k0 += T", "k0 + T <= K; k0 += T"),
    ("k0 + ty < K && col < N", "row < K && col < N"))


def mend_text(s: Numbers) -> str:
    text = regions.planted(cuda("tiled.cu").replace("void tiled", "void mend"), *DEFECTS[s.defect])
    return renamed(text, NAMES[s.names])


MEND = Kernel(
    name="mend", points=3, text=mend_text, repairs=1, sizes=((5, 3, 19), (20, 17, 13), (16, 16, 32), (20, 17, 70)),
    like=lambda s: gl.SharedTiling(TILE=16).with_source(cuda("tiled.cu"), entry="mend"), solution=mend_text,
    advice={"wrong-values": "Which products are missing from the sum, or are in it and should not be? Try K = 19 in "
                            "your head: "
            "one full step and 3 more."})

# --- kernels of one's own


def rect_text(s: Numbers) -> str:
    text = cuda("rect.cu" if s.rect == 0 else "rect_loops.cu")
    return text.replace("TX = 32, TY = 8, TK = 8", f"TX = {s.TX}, TY = {s.TY}, TK = {s.TK}")


def rect_like(s: Numbers):
    def blocks(M: int, N: int) -> tuple[int, int]:
        return blocks_along(N, s.TX), blocks_along(M, s.TY)
    return gl.CudaGemm(cuda("rect.cu"), "rect", blocks, (s.TX, s.TY))


def rect_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    threads = blocks_along(M, s.TY) * blocks_along(N, s.TX) * s.TX * s.TY
    return {"global_load_words": tile_loads(s.TX, s.TY, M, N, K),
            "shared_load_words": threads * blocks_along(K, s.TK) * 2 * s.TK}


TILED_ADVICE = {
    "global_load_words": "The values are right, and more is read from global memory than the tiles need: each word of "
                         "A and B "
                         "shall come to a block once.",
    "shared_load_words": "The values are right, and more is read from the tiles than 2 words for each product.",
    "wrong-values": "Does every word of both tiles come from its place in A and B, with zeros beyond an edge?"}

RECT = Kernel(name="rect", points=5, text=rect_text, like=rect_like, budgets=rect_budget, solution=rect_text,
              advice=TILED_ADVICE, sizes=((5, 3, 5), (35, 79, 19), (64, 64, 32), (9, 33, 45)))


def turn_text(s: Numbers) -> str:
    """T = 16 needs 2 unused floats in a row, T = 32 one and T = 8 four, or rows of a warp's piece meet in a bank."""
    spare = {16: 2, 32: 1, 8: 4}[s.T]
    return cuda("turn.cu").replace("T = 16", f"T = {s.T}").replace("WIDTH = T + 2", f"WIDTH = T + {spare}")


def turn_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    """Two stores without conflicts, for each warp and step."""
    warps = blocks_along(M, s.T) * blocks_along(N, s.T) * s.T * s.T // 32
    return {"shared_store_wavefronts": warps * blocks_along(K, s.T) * 2}


TURN = Kernel(
    name="turn", points=5, text=turn_text, like=lambda s: gl.SharedTiling(TILE=s.T).with_source(cuda("turn.cu"),
                                                                                                entry="turn"),
    budgets=turn_budget, solution=turn_text, sizes=((5, 3, 19), (33, 40, 19), (32, 32, 64)),
    advice={"shared_store_wavefronts": "Right, with bank conflicts in a store: write down the banks of the 32 lanes of "
                                       "a warp. "
            "How many rows of A does it hold?",
            "wrong-values": "As is read as As[k][row in the block]: is it stored so?"})

ASSIGNMENT = Assignment(
    lesson="02", title="Shared-memory tiling", tasks=(TILE_WORDS, COLUMN, RACE, ORDER, MEND, RECT, TURN),
    shown={"TX": 32, "TY": 8, "TK": 8, "lanes": 32, "T": 16},
    others={"TX,TY,TK": ((16, 8, 16), (8, 32, 8), (16, 16, 32), (64, 4, 16)), "lanes": (16, 8), "T": (32, 8)},
    forms={"names": 4, "race": 3, "relay": 4, "defect": 4, "rect": 2},
    meaning={"TX": "columns of C that a block computes, in tasks 1 and 6", "TY": "rows of C that a block computes",
             "TK": "k in one step", "lanes": "lanes of a warp that go down one column, in task 2",
             "T": "rows and columns of the block in task 7"})
