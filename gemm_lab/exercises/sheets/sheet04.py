"""Exercises for lesson 04: words and wavefronts of an outer product, banks, counters of a change, kernels, a tile."""

from __future__ import annotations

from math import sqrt

import gemm_lab as gl
from gemm_lab import closed_forms
from gemm_lab.closed_forms import blocks_along
from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.choice_tasks import Choice, Lines
from gemm_lab.exercises.formula_tasks import Formula, Number
from gemm_lab.exercises.kernel_tasks import Kernel, Tile
from gemm_lab.exercises.sheets import cuda, renamed, sheet03
from gemm_lab.exercises.tasks import Mistake, Numbers
from gemm_lab.shared_wavefronts import shared_wavefronts

# --- words per FMA

PER_FMA = Formula(
    name="per_fma", points=2, asked="a formula in R, in quotes; sqrt(x) is the root", variables=("R",),
    truth=lambda s, R, *_: (1 + s.ratio) / sqrt(s.ratio * R),
    solution=lambda s: f'"(1 + {s.ratio}) / sqrt({s.ratio}*R)"', units={4: "bytes"},
    whole="It holds for some numbers of accumulators only: leave the root as it is.",
    mistakes=(
        Mistake("square", "2 / sqrt(R)", "That is a square. This rectangle is higher than wide."),
        Mistake("not-divided", "(1 + ratio) * sqrt(R/ratio)", "These are the words of one step of k. How many FMAs "
                "does the thread execute in it?"),
        Mistake("strip", "(R + 1) / R", "That is the strip of lesson 03, one column wide."),
        Mistake("no-reuse", "2*R / R", "That is the kernel of lesson 02, in which no word serves twice."),
        Mistake("too-large", "(1 + ratio) / (ratio * sqrt(R))", "With sqrt(R) columns, and more rows than that, the "
                "rectangle has more elements than accumulators. Start with TM * TN = R."),
        Mistake("upside-down", "sqrt(ratio*R) / (1 + ratio)", "These are FMAs per word.")),
    hint="Write TM with TN, then TN with R. In one step of k a thread reads TM + TN words.")

# --- wavefronts per warp-FMA


def step_wavefronts(TM: int, TN: int, across: int) -> tuple[int, int]:
    """Wavefronts of a warp's loads of x and of y in one step of k, four words at a time."""
    rows, columns = ([lane // across * TM for lane in range(32)], [lane % across * TN for lane in range(32)])
    return tuple(sum(shared_wavefronts([4 * (first + four) for first in firsts], 16) for four in range(0, count, 4))
                 for firsts, count in ((rows, TM), (columns, TN)))


def w(s: Numbers) -> float:
    return sum(step_wavefronts(s.TM, s.TN, s.across)) / (s.TM * s.TN)


def w_solution(s: Numbers) -> str:
    x, y = step_wavefronts(s.TM, s.TN, s.across)
    return f"({s.TM // 4} * {4 * x // s.TM} + {s.TN // 4} * {4 * y // s.TN}) / ({s.TM} * {s.TN})"


def unless_right(wrong):
    """A wrong number where it is one: on some sheets there is no conflict, for example."""
    def answer(s: Numbers) -> float | None:
        return None if abs(wrong(s) - w(s)) < 1e-6 else wrong(s)
    return answer


W = Number(
    name="w", points=3, asked="a number, or arithmetic such as (3 * 5 + 7) / 60", truth=w, solution=w_solution,
    units={1 / 32: "for each FMA of a single lane", 128: "bytes that the wavefronts could move"},
    mistakes=(
        Mistake("not-divided", lambda s: sum(step_wavefronts(s.TM, s.TN, s.across)),
                "These are the wavefronts of a step of k. How many warp-FMAs belong to it?"),
        Mistake("no-conflicts", unless_right(lambda s: (s.TM / 2 + s.TN) / (s.TM * s.TN)),
                "That is so if no group of 8 lanes has a conflict. Write down the banks in which y begins for 8 "
                "neighbouring lanes."),
        Mistake("only-y", lambda s: step_wavefronts(s.TM, s.TN, s.across)[1] / (s.TM * s.TN),
                "These are the loads of y. Those of x take the pipe's time, too."),
        Mistake("free-broadcast", lambda s: (s.TM / 4 + step_wavefronts(s.TM, s.TN, s.across)[1]) / (s.TM * s.TN),
                "A wavefront moves at most 128 bytes to the lanes' registers, also where they all want the same four "
                "words. How many lanes can it serve then?"),
        Mistake("x-in-quarters", unless_right(
            lambda s: (s.TM + step_wavefronts(s.TM, s.TN, s.across)[1]) / (s.TM * s.TN)),
                "Neighbours want the same words of x: then a wavefront serves two groups of 8 lanes."),
        Mistake("instructions", lambda s: (s.TM + s.TN) / 4 / (s.TM * s.TN),
                "These are load instructions. One of 128 bits takes several wavefronts."),
        Mistake("words", lambda s: (s.TM + s.TN) / (s.TM * s.TN),
                "These are words of a thread for each FMA, which do not know where the lanes go.")),
    hint="Take the loads of x and of y apart: which lanes are served together, and in which banks lie their words?")

# --- conflicts to find

BANKS = (       # what is replaced in the text, and pieces of the lines that have conflicts
    ((), ("As[i % BK][i / BK] =", "&Bs[k][left]", "&Bs[k][left + 4]")),
    ((("As[BK][BM]", "As[BK][BM + 4]"),), ("&Bs[k][left]", "&Bs[k][left + 4]")),
    ((("t % 16 * 8", "t % 16 * 4"), ("left + 4]", "left + BN / 2]"),
      ("left + j;", "left + j / 4 * (BN / 2) + j % 4;")), ("As[i % BK][i / BK] =",)))


def banks_text(s: Numbers) -> str:
    text = cuda("banks.cu")
    for old, new in BANKS[s.banks][0]:
        text = text.replace(old, new)
    return text


BANK_NOTES = (
    ("As[i % BK][i / BK] =", "store-of-a", "write down the words of the first lanes: k moves with the lane. In which "
     "banks do they lie, with rows of this width?"),
    ("Bs[i / BN][i % BN] =", "row", "the lanes of a warp store side by side into one row."),
    ("&As[k][top]", "broadcast", "half a warp wants the same four words, and a conflict needs different ones in one "
     "bank."),
    ("&Bs[k][left", "side-by-side", "write down the words of eight neighbouring lanes and their banks. Does any "
     "bank come twice?"),
    ("C +", "global", "C lies in global memory, which has no banks."),
    ("*to", "global", "C lies in global memory, which has no banks."),
    ("acc", "registers", "these are registers of one thread."),
    ("__shared__", "declaration", "this declares a tile and touches no word of it."),
    ("", "no-access", "no word of shared memory is touched here."))

BANK_LINES = Lines(
    name="banks", points=3, asked="numbers of lines, such as {3, 14}", text=banks_text,
    truth=lambda s: BANKS[s.banks][1], notes=lambda s: BANK_NOTES,
    solution=lambda s: "{" + ", ".join(map(str, sorted(BANK_LINES.wanted(s)))) + "}",
    hint="A conflict is two different words in one bank, wanted at the same time: by the lanes of a warp for one word "
         "each, by 8 neighbouring lanes for four.")

# --- what a change removed

REORDERED = "Reordering(BM=64, BN=128, BK=16, TM=8, TN=8{})"
PAIRS = (       # what went away, before, after
    ("bank conflicts", "RegisterTiling2D(BM=128, BN=128, BK=8, TM=8, TN=8)",
     "WarpTiling(BM=128, BN=128, BK=8, TM=8, TN=8)"),
    ("waiting for global memory", "WarpTiling(BM=128, BN=128, BK=8, TM=8, TN=8)",
     "Pipelining(BM=128, BN=128, BK=8, TM=8, TN=8)"),
    ("waiting for registers", REORDERED.format(", ORDER=0"), REORDERED.format("")),
    ("traffic with DRAM", REORDERED.format(", STRIP=1"), REORDERED.format("")))
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COUNTERS = (    # what, metrics whose sum it is, how it is written
    ("load/store wavefronts", ("l1tex__data_pipe_lsu_wavefronts.sum",), ",.0f"),
    ("bank conflicts in shared memory", (CONFLICTS.format("ld"), CONFLICTS.format("st")), ",.0f"),
    ("cycles that a warp waits for global memory", (STALLED.format("long_scoreboard"),), ".2f"),
    ("cycles that a warp waits for registers", (STALLED.format("dispatch_stall"),), ".2f"),
    ("bytes read from DRAM", ("dram__bytes_read.sum",), ",.0f"))


def counted(s: Numbers) -> list[tuple[str, float, float, str]]:
    """What was counted, before and after the change, and how it is written."""
    rows = {row.kernel: row.counters for row in gl.recorded_counters("H200", "laddercounters")}
    before, after = (rows[name] for name in PAIRS[s.pair][1:])
    return [(what, sum(before[m] for m in metrics), sum(after[m] for m in metrics), form)
            for what, metrics, form in COUNTERS]


class Change(Choice):
    """A choice that shows the counters of two kernels."""

    def given(self, numbers: Numbers) -> str:
        lines = [f"    {what:<42} {before:>15{form}} {after:>15{form}}" for what, before, after, form in
                 counted(numbers)]
        return "\n".join(["two kernels at M = N = K = 4096, by the counters of an H200",
                          f"    {'':<42} {'before':>15} {'after':>15}", *lines,
                          "cycles are for each instruction that was issued"])


FELL_LESS = "Something else fell by a larger part, or those cycles were next to nothing to begin with."
CHANGE = Change(
    name="change", points=3, asked="one of " + ", ".join(f'"{pair[0]}"' for pair in PAIRS),
    truth=lambda s: PAIRS[s.pair][0], solution=lambda s: f'"{CHANGE.truth(s)}"',
    options={
        "bank conflicts": "A conflict costs one wavefront. What part of all wavefronts were conflicts before the "
                          "change?",
        "waiting for global memory": FELL_LESS, "waiting for registers": FELL_LESS,
        "traffic with DRAM": "Compare the bytes: they did not fall."})

# --- a kernel to repair

NAMES = ({}, {"top": "first", "acc": "sum"}, {"row0": "y0", "col0": "x0", "acc": "dot"},
         {"As": "a_tile", "Bs": "b_tile", "left": "start"})
DEFECTS = (     # right, wrong
    ("if (r < M && c < N)", "if (r < M && col0 + left < N)"),
    ("threadIdx.x / (BN / TN) * TM;", "threadIdx.x / (BM / TM) * TM;"),
    ("THREADS = BM * BN / (TM * TN);", "THREADS = BM * BN / TM;"),
    ("Bs[k][left + j];", "Bs[k][left * TN + j];"))


def repair_text(s: Numbers) -> str:
    text = regions.planted(cuda("grid2d.cu").replace("void grid2d", "void repair"), *DEFECTS[s.defect])
    return renamed(text, NAMES[s.names])


def blocks_of_128(tile: int, entry: str, file: str):
    """Blocks of 128 threads that compute tile x tile elements."""
    return gl.CudaGemm(cuda(file), entry, lambda M, N: (blocks_along(N, tile), blocks_along(M, tile)), 128)


REPAIR = Kernel(
    name="repair", points=3, text=repair_text, like=lambda s: blocks_of_128(32, "repair", "grid2d.cu"),
    repairs=1, solution=repair_text, sizes=((5, 3, 9), (32, 64, 16), (37, 71, 13)), deepest=30,
    advice={"out-of-bounds": "Which rows and which columns has a thread, and which of them exist? Try the last thread "
                             "of a block.",
            "race": "Two threads have the same element. How many threads lie side by side, and where does the next "
                    "thread's rectangle begin?"})

# --- a kernel of one's own


def outer_text(s: Numbers) -> str:
    return cuda(("outer.cu", "outer_apart.cu")[s.outer])


def outer_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    """The words of an outer product, read by fours; stores without conflicts; no local memory."""
    counts = closed_forms.register_tiling_2d(64, 64, *((8, 8, 4), (4, 4, 8))[s.outer], M, N, K)
    return {"global_load_words": counts.global_load_words, "shared_load_words": counts.shared_load_words,
            "shared_load_requests": counts.shared_load_words // 32 // 4,
            "shared_store_wavefronts": counts.shared_store_words // 32, "local_bytes": 0}


OUTER = Kernel(
    name="outer", points=7, text=outer_text, like=lambda s: blocks_of_128(64, "outer", "outer.cu"),
    budgets=outer_budget, solution=outer_text, sizes=((5, 3, 9), (70, 66, 13)), deepest=20,
    advice={"shared_store_wavefronts": "Right, with bank conflicts in a store: write down the words of a warp's 32 "
                                       "lanes in As. How wide must a row be?",
            "shared_load_words": "Right, with more words from the tiles than an outer product takes: in one step of "
                                 "k a thread needs TM words of As and TN of Bs, each once.",
            "shared_load_requests": "Right, with more load instructions than needed: four words that lie side by side, "
                                    "from a multiple of 16 bytes on, come by one load.",
            "misaligned": "A float4 must begin at a multiple of 16 bytes, in every row of a tile.",
            "local_bytes": "Right, but an array went to local memory: are all its indices known when the loops are "
                           "unrolled?",
            "wrong-values": "Which element of C belongs to which accumulator, and which word of As and Bs to which "
                            "row, column and k?"})

# --- a tile under a budget


def demands(k, s: Numbers):
    """The demands of lesson 03, and one more: (name, what is demanded, whether it is met)."""
    *others, warps = sheet03.demands(k, s)
    registers = f"at most {s.registers} registers in a thread"
    return *others, ("registers", registers, k.compile().registers <= s.registers), warps


TILES = {(96, 0.38, 12, 80, 24): (64, 128, 16, 8, 4), (64, 0.38, 16, 72, 32): (128, 128, 16, 8, 4),
         (86, 0.21, 8, 160, 12): (96, 96, 8, 12, 8), (86, 0.34, 8, 96, 18): (96, 96, 8, 12, 4),
         (128, 0.38, 8, 80, 24): (64, 64, 8, 8, 4)}
PUBLIC = (96, 0.38, 12, 80, 24)


def tile_solution(s: Numbers) -> str:
    BM, BN, BK, TM, TN = TILES[s.global_words, s.shared_words, s.shared_kb, s.registers, s.warps]
    return f"gl.RegisterTiling2D(BM={BM}, BN={BN}, BK={BK}, TM={TM}, TN={TN})"


TILE = Tile(
    name="tile", points=5, asked="gl.RegisterTiling2D with BM, BN, BK, TM and TN", kind=gl.RegisterTiling2D,
    demands=demands, solution=tile_solution,
    advice={"global-words": "Which two of the five numbers decide how many elements of C a word of A or B serves?",
            "shared-words": "Two of the five numbers are in the formula for shared words per FMA.",
            "shared-memory": "Shared memory holds BK * (BM + BN) words. Which of the three is free, if the global "
                             "words are settled?",
            "registers": "A thread keeps TM * TN sums, and needs registers beside them, among others for words that it "
                         "copies. Does it have to copy so many?",
            "local-memory": "The compiler ran out of registers: try another BK, or a smaller rectangle for a thread.",
            "warps": "Registers limit the blocks on an SM, or the block is of an awkward size: 64 warps in all."})

ASSIGNMENT = Assignment(
    lesson="04", title="2D register tiling", tasks=(PER_FMA, W, BANK_LINES, CHANGE, REPAIR, OUTER, TILE),
    shown={"ratio": 2, "TM": 4, "TN": 8, "across": 16,
           **dict(zip(("global_words", "shared_words", "shared_kb", "registers", "warps"), PUBLIC))},
    others={"ratio": (3, 4, 5, 6, 8), "TM,TN,across": ((8, 4, 16), (8, 8, 8), (8, 12, 16), (4, 16, 8), (16, 8, 4)),
            "global_words,shared_words,shared_kb,registers,warps": tuple(tile for tile in TILES if tile != PUBLIC)},
    forms={"banks": 3, "pair": 4, "names": 4, "defect": 4, "outer": 2},
    meaning={"ratio": "rows of a thread's rectangle for each of its columns, in task 1",
             "TM": "rows of a thread's rectangle, in task 2", "TN": "and its columns",
             "across": "threads side by side in a row of the block, in task 2",
             "global_words": "at most so many per output, in task 7",
             "shared_words": "at most so many per FMA, in task 7",
             "shared_kb": "KB of shared memory at most, in task 7",
             "registers": "of a thread at most, in task 7", "warps": "on an SM at least, in task 7"})
