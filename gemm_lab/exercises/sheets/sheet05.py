"""Exercises for lesson 05: lanes that share a wavefront, padding, the right wait, stages that fit, kernels."""

from __future__ import annotations

import gemm_lab as gl
from gemm_lab import closed_forms
from gemm_lab.closed_forms import blocks_along
from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.expressions import evaluate
from gemm_lab.exercises.formula_tasks import Formula, Number
from gemm_lab.exercises.kernel_tasks import Kernel
from gemm_lab.exercises.sheets import cuda, renamed
from gemm_lab.exercises.sheets.sheet04 import blocks_of_128
from gemm_lab.exercises.tasks import Mistake, Numbers
from gemm_lab.occupancy import occupancy_of
from gemm_lab.shared_wavefronts import shared_wavefronts

# --- wavefronts of two reads


def places(s: Numbers) -> tuple[list[int], list[int]]:
    """For each lane of a warp the word at which its four begins, in a row of As and in one of Bs."""
    return tuple([s.apart * evaluate(text.replace("/", "//"), {"lane": lane}) for lane in range(32)]
                 for text in (s.row, s.col))


def reads(s: Numbers) -> list[int]:
    """Wavefronts of a LDS.128 of As and of one of Bs."""
    return [shared_wavefronts([4 * word for word in words], 16) for words in places(s)]


def without_pairs(words: list[int]) -> int:
    """Wavefronts if no lanes were served in pairs: each group of eight takes those of its busiest bank."""
    groups = (set(words[first:first + 8]) for first in range(0, 32, 8))
    return sum(max(sum(word % 32 == bank for word in group) for bank in range(32)) for group in groups)


def without_conflicts(words: list[int]) -> int:
    """Wavefronts if no bank had two words to give."""
    agree = any(all(words[lane] == words[lane ^ other] for lane in range(32)) for other in (1, 2))
    return 2 if agree else 4


def unless_right(wrong):
    """A wrong number where it is one: some sheets have no conflict, for example."""
    def answer(s: Numbers) -> float | None:
        return None if wrong(s) == sum(reads(s)) else wrong(s)
    return answer


WAVEFRONTS = Number(
    name="wavefronts", points=3, asked="a whole number, or arithmetic with +", truth=lambda s: sum(reads(s)),
    solution=lambda s: "{} + {}".format(*reads(s)), tolerance=1e-6, units={128: "bytes that they could move"},
    mistakes=(
        Mistake("no-pairs", unless_right(lambda s: sum(map(without_pairs, places(s)))),
                "That is so if every group of eight lanes is served by itself. Do neighbours, or next neighbours, want "
                "the same words anywhere in the warp?"),
        Mistake("no-conflicts", unless_right(lambda s: sum(map(without_conflicts, places(s)))),
                "That is so if no two lanes of a group want different words of one bank. Write down the banks in which "
                "the fours begin."),
        Mistake("only-one", unless_right(lambda s: max(reads(s))), "That is one of the two reads."),
        Mistake("free-broadcast", lambda s: sum(reads(s)) - 1 if 2 in reads(s) else None, "A wavefront moves at most "
                "128 bytes to the lanes' registers, also where they all want the same words. How many lanes can it "
                "serve then?"),
        Mistake("requests", unless_right(lambda s: 2), "These are requests. A wavefront moves at most 128 bytes."),
        Mistake("words", lambda s: 2 * 4 * 32, "These are words that the lanes get.")),
    hint="Take the two reads apart. For each: are lanes served in pairs, and which banks do the lanes want that are "
         "served together?")

# --- padding


def period(s: Numbers) -> int:
    """The width of a row of As may grow by so many words, and the banks of a store are the same."""
    return 64 // s.BK


PADDING = Formula(
    name="padding", points=3, asked="a formula in BM, in quotes; % is the remainder", variables=("BM",),
    truth=lambda s, BM, *_: (period(s) // 2 - BM) % period(s),
    solution=lambda s: f'"({period(s) // 2} - BM) % {period(s)}"', units={4: "bytes"},
    whole="It holds for some BM only, such as multiples of that many words. BM can be any number here.",
    mistakes=(
        Mistake("whole-rows", lambda s: f"(-BM) % {period(s)}", "Then the groups fall into the same banks: the width "
                "must not be a multiple of that."),
        Mistake("half-the-banks", "(16 - BM) % 32", "That moves the next row by half the banks. How many rows below do "
                "the next lanes store, and how many groups are there to tell apart?"),
        Mistake("odd", lambda s: None if period(s) == 2 else "(1 - BM) % 2", "An odd width spreads lanes that go down "
                "a column, one row each. Here the lanes of a group lie side by side in a row."),
        Mistake("width", lambda s: f"BM + ({period(s) // 2} - BM) % {period(s)}", "That is the width. How many words "
                "of it are padding?"),
        Mistake("taken-away", lambda s: f"(BM - {period(s) // 2}) % {period(s)}", "So many words must be taken away "
                "from the row. Padding adds some."),
        Mistake("one", "BM // BM", "One word of padding, as in many texts: try it on a width that is a power of two.")),
    hint="In which bank does the first group of lanes begin, and in which the next one, if a row has W words? Then ask "
         "which W keep them apart.")

# --- the right wait

COMMIT = "__pipeline_commit();"
PROLOGUE = """for (int n = 0; n < STAGES - 1; ++n) {
    COPY(n)
}
"""
LOOPS = (       # how a step goes; groups that it commits; groups that may travel in its wait, by the number of stages
    ("""for (int n = 0; n < steps; ++n) {
    __pipeline_wait_prior(?);
    __syncthreads();
    COPY(n + STAGES - 1)
    multiply(n);
}""", 1, lambda stages: stages - 2),
    ("""for (int n = 0; n < steps; ++n) {
    __pipeline_wait_prior(?);
    __syncthreads();
    COPY(n + STAGES - 1)
    multiply(n);
}""", 2, lambda stages: 2 * (stages - 2)),
    ("""for (int n = 0; n < steps; ++n) {
    COPY(n + STAGES - 1)
    __pipeline_wait_prior(?);
    __syncthreads();
    multiply(n);
    __syncthreads();
}""", 1, lambda stages: stages - 1),
    ("""__pipeline_wait_prior(STAGES - 2);
__syncthreads();
for (int n = 0; n < steps; ++n) {
    COPY(n + STAGES - 1)
    multiply(n);
    __pipeline_wait_prior(?);
    __syncthreads();
}""", 1, lambda stages: stages - 2))


def loop(s: Numbers) -> str:
    """The pipeline of a sheet, with a question mark in its wait."""
    text, groups, _ = LOOPS[s.loop]
    lines = []
    for line in (PROLOGUE + text).split("\n"):
        space, call, step = line.partition("COPY")
        if not call:
            lines.append(line)
            continue
        between = [COMMIT] if groups == 2 else []
        lines += [space + part for part in (f"copy_a{step};", *between, f"copy_b{step};", COMMIT)]
    return "\n".join([f"constexpr int STAGES = {s.stages};", *lines])


class Wait(Number):
    """A number that belongs to a piece of CUDA."""

    def given(self, numbers: Numbers) -> str:
        return loop(numbers)


def waits(s: Numbers) -> int:
    return LOOPS[s.loop][2](s.stages)


WAIT = Wait(
    name="wait", points=2, asked="a whole number", truth=waits, solution=lambda s: str(waits(s)), tolerance=1e-6,
    mistakes=(
        Mistake("no-pipeline", lambda s: 0, "That is right, and it waits for the copies that were started last: what "
                "are the other stages for?"),
        Mistake("too-weak", lambda s: waits(s) + 1, "Then a word that is read next may still travel. List the groups "
                "that are committed at the wait, the youngest first."),
        Mistake("tiles-for-groups", lambda s: s.stages - 2 if LOOPS[s.loop][1] == 2 else None, "So many tiles may "
                "still travel. A wait counts groups: how many does a step commit?"),
        Mistake("too-strong", lambda s: waits(s) - 1, "That is right, and it waits for a group that may still travel."),
        Mistake("stages", lambda s: s.stages, "That is how many tiles have a place. One of them is read next, and must "
                "have come."),
        Mistake("double-buffer", lambda s: None if waits(s) <= 2 else 1, "That is the wait of a pipeline with fewer "
                "stages: right here, and it waits for more than it needs."),
        Mistake("places", lambda s: 2 * s.stages, "That counts places for tiles of A and of B. Count the groups that "
                "are committed and that nobody reads next.")),
    hint="At the wait of step n: of which tiles have the groups been committed, and which tile is read next?")

# --- stages that fit


def stage_bytes(s: Numbers) -> int:
    """Shared memory for a tile of A, with padding, and one of B."""
    return 4 * s.depth * (s.rows + 4 + s.columns)


def blocks(s: Numbers, shared_bytes: int = 0) -> int:
    """Blocks that an SM holds."""
    return occupancy_of(s.threads, s.registers, 0, shared_bytes, opt_in=True).blocks


def most_stages(s: Numbers) -> int:
    """The most stages with which as many blocks fit on an SM as without shared memory."""
    return max(n for n in range(1, 100) if blocks(s, n * stage_bytes(s)) == blocks(s))


def room(s: Numbers) -> float:
    """Bytes of shared memory that each of these blocks can have."""
    return 228 * 1024 / blocks(s) - 1024


STAGES = Number(
    name="most", points=3, asked="a whole number", truth=most_stages, solution=lambda s: str(most_stages(s)),
    tolerance=1e-6,
    mistakes=(
        Mistake("one-block", lambda s: 227 * 1024 // stage_bytes(s), "With so many a single block fills the "
                "shared memory. How many blocks do the registers allow?"),
        Mistake("one-more", lambda s: most_stages(s) + 1, "One too many. Do the rows of As have padding in your sum, "
                "and a block the kilobyte that the system takes for itself?"),
        Mistake("words-for-bytes", lambda s: room(s) // (stage_bytes(s) / 4), "These stages are counted in "
                "words and the memory in bytes."),
        Mistake("only-a", lambda s: room(s) // (4 * s.depth * (s.rows + 4)), "A stage holds a tile of A and "
                "one of B."),
        Mistake("static-limit", lambda s: 48 * 1024 // stage_bytes(s), "That is the limit for shared memory "
                "that is declared with its size. A launch can ask for more."),
        Mistake("not-whole", lambda s: room(s) / stage_bytes(s), "Stages come whole."),
        Mistake("per-sm", lambda s: most_stages(s) * blocks(s), "These are the stages of all blocks on an SM. The "
                "question is about one of them.")),
    hint="First the blocks that the registers allow; then what each of them gets of the shared memory; then how many "
         "stages that is.")

# --- a pipeline to repair

NAMES = ({}, {"place": "slot", "step": "tile", "acc": "sum"}, {"As": "a_tiles", "Bs": "b_tiles", "n": "i"},
         {"ka": "ak", "kb": "bk", "row": "y", "col": "x", "acc": "dot"})
DEFECTS = (     # right, wrong
    ("copy((n + STAGES - 1) % STAGES,", "copy(n % STAGES,"),
    ("__pipeline_wait_prior(STAGES - 2);", "__pipeline_wait_prior(STAGES - 1);"),
    ("__syncthreads();", "__syncwarp();"),
    ("4, b ? 0 : 4);", "4, a ? 0 : 4);"))


def repair_text(s: Numbers) -> str:
    text = regions.planted(cuda("stages.cu").replace("void stages", "void repair"), *DEFECTS[s.defect])
    return renamed(text, NAMES[s.names])


def tiles_of_16(s: Numbers):
    """Blocks of 16 x 16 threads, one for each element."""
    return gl.CudaGemm(cuda("stages.cu"), "stages", lambda M, N: (blocks_along(N, 16), blocks_along(M, 16)), (16, 16))


REPAIR = Kernel(
    name="repair", points=4, text=repair_text, repairs=1, solution=repair_text, sizes=((5, 3, 19), (37, 70, 45)),
    like=lambda s: gl.CudaGemm(repair_text(s), "repair", tiles_of_16(s).grid, (16, 16)),
    advice={"race": "One thread reads a word while the copy of another is on its way into the same place. Which step's "
                    "tile lies in which place, and what says that a place is free, or that the words of all threads "
                    "have come?",
            "uninitialized": "A word is read before its copy has arrived: how many of the youngest groups may still "
                             "travel, and whose copies does a wait speak for?",
            "out-of-bounds": "A copy goes beyond an array: which places are there, and which words exist?",
            "wrong-values": "Which words does a copy bring, into which place, and which place is multiplied?"})

# --- rows and columns to deal


def deal_text(s: Numbers) -> str:
    return cuda(("deal.cu", "deal_rows.cu")[s.deal])


def deal_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    """The words of an outer product in the fewest wavefronts: two for each read of four words; no local memory."""
    counts = closed_forms.register_tiling_2d(64, 64, *((8, 4, 8), (8, 8, 4))[s.deal], M, N, K)
    return {"global_load_words": counts.global_load_words, "shared_load_words": counts.shared_load_words,
            "shared_load_wavefronts": counts.shared_load_words // 64, "local_bytes": 0}


DEAL = Kernel(
    name="deal", points=7, text=deal_text, like=lambda s: blocks_of_128(64, "deal", "deal.cu"), budgets=deal_budget,
    solution=deal_text, sizes=((5, 3, 9), (70, 66, 13)), deepest=20,
    advice={"shared_load_wavefronts": "Right, with more wavefronts than needed. Two for each read of four words: for "
                                      "which lanes n and n^1, or n and n^2, are the words of As the same, for which "
                                      "those of Bs? And do a lane's four words come by one load?",
            "shared_load_words": "Right, with more words from the tiles than an outer product takes: in one step of k "
                                 "a thread needs TM words of As and TN of Bs, each once.",
            "misaligned": "A float4 must begin at a multiple of 16 bytes.",
            "local_bytes": "Right, but an array went to local memory: are all its indices known when the loops are "
                           "unrolled?",
            "race": "Two lanes store the same element: do all 32 have places of their own?",
            "wrong-values": "Which element of C belongs to which accumulator, and which word of As and Bs to which "
                            "row, column and k? Are there elements that nobody has?"})

ASSIGNMENT = Assignment(
    lesson="05", title="Warp tiling and pipelining", tasks=(WAVEFRONTS, PADDING, WAIT, STAGES, REPAIR, DEAL),
    shown={"row": "lane / 8", "col": "lane % 8", "apart": 8, "BK": 8, "words": 4, "stages": 4,
           "rows": 96, "columns": 128, "depth": 8, "threads": 192, "registers": 96},
    others={"row,col,apart": (("lane % 4", "lane / 4", 16), ("lane / 2 % 4", "lane % 2 + lane / 8 * 2", 8),
                              ("lane / 2 % 4", "lane % 2 + lane / 8 * 2", 16), ("lane % 2", "lane / 2", 8),
                              ("lane % 8", "lane / 8", 16)),
            "BK,words": ((16, 4), (32, 4), (4, 1), (16, 2), (4, 2)), "stages": (5,),
            "rows,columns,depth,threads,registers": ((64, 128, 16, 128, 128), (128, 64, 8, 128, 96),
                                                     (128, 128, 16, 256, 128), (128, 256, 8, 256, 168))},
    forms={"loop": 4, "names": 4, "defect": 4, "deal": 2},
    meaning={"row": "of a lane, in task 1", "col": "and its column",
             "apart": "words between the fours of neighbouring rows or columns, in task 1",
             "BK": "values of k in a tile, in task 2", "words": "that a lane brings, in task 2",
             "stages": "of the pipeline, in task 3", "rows": "rows of a block's tile, in task 4",
             "columns": "and its columns", "depth": "and its values of k", "threads": "of a block, in task 4",
             "registers": "of a thread, in task 4"})
