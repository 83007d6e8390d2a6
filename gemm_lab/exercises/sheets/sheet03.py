"""Exercises for lesson 03: words per FMA, blocks on an SM, a binding pipe, kernels with several elements a thread."""

from __future__ import annotations

import gemm_lab as gl
from gemm_lab.closed_forms import blocks_along
from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.choice_tasks import Choice
from gemm_lab.exercises.formula_tasks import Formula, Number
from gemm_lab.exercises.kernel_tasks import Kernel, Tile
from gemm_lab.exercises.sheets import cuda, renamed
from gemm_lab.exercises.tasks import Mistake, Numbers
from gemm_lab.occupancy import occupancy_of

# --- words per FMA

PER_FMA = Formula(
    name="per_fma", points=2, asked="a formula in TM, in quotes", variables=("TM",),
    truth=lambda s, TM, *_: (TM + s.columns) / (TM * s.columns),
    solution=lambda s: f'"(TM + {s.columns}) / ({s.columns}*TM)"',
    units={4: "bytes"},
    mistakes=(
        Mistake("one-column", "(TM + 1) / TM", "That is a strip of one column, as in the lesson. Here a word of As "
                "serves several columns, so it is read once for all of them."),
        Mistake("not-divided", "TM + columns", "These are the words of one step of k. How many FMAs does the thread "
                                               "execute in "
                "it?"),
        Mistake("no-reuse", "2*TM / TM", "That is the kernel of lesson 02, in which no word serves twice."),
        Mistake("divided-by-rows", "(TM + columns) / TM", "The thread has several FMAs for each of its rows."),
        Mistake("upside-down", "TM*columns / (TM + columns)", "These are FMAs per word.")),
    hint="In one step of k: how many words of As, how many of Bs, how many FMAs?")

# --- blocks on an SM


def occupied(s: Numbers):
    return occupancy_of(s.threads, s.registers, s.shared_bytes, compute_capability=gl.gpus[s.gpu].compute_capability)


def limit(name: str):
    """What one resource alone would allow, where that is not the answer."""
    def blocks(s: Numbers) -> float | None:
        allowed = occupied(s).limits[name]
        return None if allowed == occupied(s).blocks else allowed
    return blocks


BLOCKS = Number(
    name="blocks", points=3, asked="a whole number", truth=lambda s: occupied(s).blocks,
    solution=lambda s: str(occupied(s).blocks), tolerance=1e-6,
    mistakes=(
        Mistake("warps-only", limit("warps"), "That is what the places for warps allow. Another resource runs out "
                                              "first."),
        Mistake("shared-only", limit("shared memory"), "That is what shared memory allows. Another resource runs out "
                                                       "first."),
        Mistake("registers-only", limit("registers"), "That is what the registers allow. Another resource runs out "
                                                      "first."),
        Mistake("slots-only", limit("blocks"), "An SM has that many places for blocks. Another resource runs out "
                                               "first."),
        Mistake("warps-for-blocks", lambda s: occupied(s).warps, "These are warps. How many of them has a block?"),
        Mistake("bytes-for-registers", lambda s: 65536 // (4 * s.threads * s.registers), "A register is 32 bits and is "
                                                                                         "counted "
                "as one; bytes do not come into it."),
        Mistake("not-rounded", lambda s: 65536 / (s.threads * s.registers), "Blocks come whole.")),
    hint="Divide what an SM has by what a block takes, for warps, registers and shared memory. The smallest quotient "
         "counts.")

# --- the binding pipe

WARP_FMAS = 4096**3 // 32
COUNTED = (     # what binds, w, GB from L2, GB from DRAM
    ("arithmetic", 0.19, 12.0, 2.5), ("load/store pipe", 0.74, 18.0, 3.0), ("L2", 0.21, 54.0, 3.5),
           ("DRAM", 0.24, 21.0, 19.5))


def seconds(s: Numbers) -> dict[str, float]:
    """How long each part of an H200 is busy at least."""
    gpu, (_, w, l2, dram) = gl.gpus["H200"], COUNTED[s.pipe]
    return {"load/store pipe": w * WARP_FMAS * 64e-12 / gpu.lsu_tflops_cap(1), "L2": l2 / gpu.l2_gbs,
            "DRAM": dram / gpu.dram_gbs, "arithmetic": WARP_FMAS * 64e-12 / gpu.peak_fp32_tflops}


def counters(s: Numbers) -> str:
    _, w, l2, dram = COUNTED[s.pipe]
    gpu = gl.gpus["H200"]
    return "\n".join([
        "a kernel at M = N = K = 4096 on an H200, by its counters",
        f"    {WARP_FMAS:>16,}  FMA instructions of warps", f"    {round(w * WARP_FMAS):>16,}  load/store wavefronts",
        f"    {round(l2 * 1e9):>16,}  bytes from L2", f"    {round(dram * 1e9):>16,}  bytes from DRAM",
        f"what the GPU can do: {gpu.peak_fp32_tflops:.1f} TFLOPS, {gpu.lsu_tflops_cap(1):.1f} TFLOPS at one wavefront "
        f"for each "
        f"warp-FMA,", f"    {gpu.l2_gbs:,} GB/s from L2, {gpu.dram_gbs:,} GB/s from DRAM"])


class Pipe(Choice):
    """A choice that shows the counters."""

    def given(self, numbers: Numbers) -> str:
        return counters(numbers)


PIPE = Pipe(
    name="pipe", points=3, asked="one of \"DRAM\", \"L2\", \"load/store pipe\", \"arithmetic\"",
    truth=lambda s: max(seconds(s), key=seconds(s).get), solution=lambda s: f'"{PIPE.truth(s)}"',
    options={
        "DRAM": "Divide the bytes from DRAM by its bandwidth: something else takes longer.",
        "L2": "Divide the bytes from L2 by its bandwidth: something else takes longer.",
        "load/store pipe": "w is wavefronts over FMA instructions. The cap that follows from it is not the lowest.",
        "arithmetic": "The FMAs at the peak take 2 ms. Something else takes longer."})

# --- a strip to repair

NAMES = ({}, {"first": "top", "col": "x", "acc": "sum"}, {"row0": "y0", "col0": "x0", "acc": "dot"},
         {"As": "a_tile", "Bs": "b_tile", "first": "start"})
DEFECTS = (     # right, wrong
    ("if (row < M && col0 + col < N)", "if (row0 + first < M && col0 + col < N)"),
    ("threadIdx.x / BN * TM;", "threadIdx.x / BN;"),
    ("As[first + r][k] * b", "As[first * TM + r][k] * b"),
    ("acc[r] += As", "acc[r] = As"))


def repair_text(s: Numbers) -> str:
    text = regions.planted(cuda("strip.cu").replace("void strip", "void repair"), *DEFECTS[s.defect])
    return renamed(text, NAMES[s.names])


def like_32(entry: str):
    """Blocks of 128 threads that compute 32 x 32 elements."""
    def kernel(s: Numbers):
        return gl.RegisterTiling1D(32, 32, 8, 8).with_source(cuda("strip.cu"), entry=entry)
    return kernel


REPAIR = Kernel(
    name="repair", points=3, text=repair_text, like=like_32("repair"), repairs=1, solution=repair_text,
    sizes=((5, 3, 19), (32, 64, 16), (37, 70, 13)),
    advice={"out-of-bounds": "Which rows belong to a strip, and which of them exist? Try the thread with the last "
                             "strip.",
            "race": "Two threads have the same element. Which rows does the next strip begin with?"})

# --- kernels of one's own


def strip_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    """One word of one tile and 8 of the other for 8 FMAs; each word of A and B once for a block; no local memory."""
    counts = gl.RegisterTiling1D(32, 32, 8, 8).counts(M, N, K)
    return {"global_load_words": counts.global_load_words, "shared_load_words": counts.shared_load_words,
            "local_bytes": 0}


ALONG = Kernel(
    name="along", points=5, text=lambda s: cuda(("along.cu", "apart.cu")[s.along]), like=like_32("along"),
    budgets=strip_budget, solution=lambda s: cuda(("along.cu", "apart.cu")[s.along]),
    sizes=((5, 3, 19), (33, 40, 19), (37, 70, 13)),
    advice={"shared_load_words": "Right, with more than 9 words from the tiles for 8 FMAs: which word serves all "
                                 "elements of a "
            "thread?",
            "local_bytes": "Right, but an array went to local memory: are all its indices known when the loops are "
                           "unrolled?",
            "wrong-values": "Which element of C belongs to which accumulator, and which rows and columns exist?"})


def wide_like(s: Numbers):
    rows, columns = ((8, 64), (64, 8))[s.wide]
    return gl.CudaGemm(cuda("wide_b.cu"), "wide", lambda M, N: (blocks_along(N, columns), blocks_along(M, rows)), 128)


def wide_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    """A warp's requests in a step: 1 for the wide tile where rows are aligned, else 4; 2 warps bring the other."""
    rows, columns = ((8, 64), (64, 8))[s.wide]
    steps = blocks_along(M, rows) * blocks_along(N, columns) * blocks_along(K, 8)
    wide = 1 if (N, K)[s.wide] % 4 == 0 else 4
    return {"global_load_requests": steps * (4 * wide + 2)}


WIDE = Kernel(
    name="wide", points=6, text=lambda s: cuda(("wide_b.cu", "wide_a.cu")[s.wide]), like=wide_like, budgets=wide_budget,
    solution=lambda s: cuda(("wide_b.cu", "wide_a.cu")[s.wide]),
    sizes=((20, 66, 12), (5, 3, 19), (33, 40, 4), (9, 68, 22)),
    advice={"global_load_requests": "Right, with more load instructions than needed: where the rows begin at multiples "
                                    "of 16 "
            "bytes, one float4 brings four words.",
            "misaligned": "A float4 must begin at a multiple of 16 bytes. For which row lengths does every row do so?",
            "out-of-bounds": "Four words reach further than one: which of them lie beyond the edge, and at which row "
            "lengths does none?"})

# --- a tile under a budget


def demands(k, s: Numbers):
    """(name, what is demanded, whether it is met), at M = N = K = 4096."""
    counts, compiled = k.counts(4096, 4096, 4096), k.compile()
    return (
        ("global-words", f"at most {s.global_words} global words per output",
         counts.global_load_words / 4096**2 <= s.global_words),
        ("shared-words", f"at most {s.shared_words} shared words per FMA",
         counts.shared_loads_per_fma <= s.shared_words),
        ("shared-memory", f"at most {s.shared_kb} KB of shared memory in a block",
         compiled.shared_bytes <= 1024 * s.shared_kb),
        ("local-memory", "no local memory", compiled.local_bytes + compiled.spill_bytes == 0),
        ("warps", f"at least {s.warps} warps on an SM of an H200", gl.occupancy(k, "H200").warps >= s.warps))


TILES = {(90, 1.07, 8, 48): (128, 128, 8, 16), (64, 1.04, 8, 32): (128, 128, 8, 32),
         (100, 1.04, 12, 32): (64, 128, 16, 32),
         (60, 1.04, 10, 40): (160, 128, 8, 32)}


def tile_solution(s: Numbers) -> str:
    BM, BN, BK, TM = TILES[s.global_words, s.shared_words, s.shared_kb, s.warps]
    return f"gl.RegisterTiling1D(BM={BM}, BN={BN}, BK={BK}, TM={TM})"


TILE = Tile(
    name="tile", points=4, asked="gl.RegisterTiling1D with BM, BN, BK and TM", kind=gl.RegisterTiling1D,
    demands=demands,
    solution=tile_solution,
    advice={"global-words": "Which of the four numbers decide how many elements of C a word of A or B serves?",
            "shared-words": "Only one of the four numbers is in the formula for shared words per FMA.",
            "shared-memory": "Shared memory holds BK * (BM + BN) words. Which of the three is free, if the global "
                             "words are "
            "settled?",
            "local-memory": "The compiler ran out of registers, or indexes an array at run time: try another BK or TM.",
            "warps": "Registers limit the blocks on an SM, or the block is of an awkward size: 64 warps in all."})

ASSIGNMENT = Assignment(
    lesson="03", title="1D register tiling", tasks=(PER_FMA, BLOCKS, PIPE, REPAIR, ALONG, WIDE, TILE),
    shown={"columns": 2, "gpu": "H200", "threads": 256, "registers": 48, "shared_bytes": 12288,
           "global_words": 90, "shared_words": 1.07, "shared_kb": 8, "warps": 48},
    others={"columns": (3, 4, 5),
            "gpu,threads,registers,shared_bytes": (("RTX 3090", 256, 40, 24576), ("T4", 128, 40, 4096),
                                                   ("H200", 512, 48, 8192),
                                                   ("A100 SXM 40 GB", 128, 64, 16384), ("L4", 384, 32, 9216)),
            "global_words,shared_words,shared_kb,warps": tuple(tiles for tiles in TILES if tiles != (90, 1.07, 8, 48))},
    forms={"names": 4, "pipe": 4, "defect": 4, "along": 2, "wide": 2},
    meaning={"columns": "columns of C that a thread computes, in task 1", "gpu": "in task 2: see gl.gpus",
             "threads": "of a block, in task 2", "registers": "of a thread, in task 2",
             "shared_bytes": "of a block, in task 2", "global_words": "at most so many per output, in task 7",
             "shared_words": "at most so many per FMA, in task 7", "shared_kb": "KB of shared memory at most, in task "
                                                                                "7",
             "warps": "on an SM at least, in task 7"})
