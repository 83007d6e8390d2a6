"""Exercises for lesson 06: shared operands, rounds, what binds, what an idea is worth, splits, and two kernels."""

from __future__ import annotations

from math import ceil, prod

import gemm_lab as gl
from gemm_lab.cli_kernels import course_kernel
from gemm_lab.closed_forms import blocks_along
from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.choice_tasks import Choice
from gemm_lab.exercises.expressions import evaluate
from gemm_lab.exercises.formula_tasks import Formula, Number
from gemm_lab.exercises.kernel_tasks import Kernel
from gemm_lab.exercises.sheets import cuda, renamed
from gemm_lab.exercises.tasks import Mistake, Numbers

SMS = gl.gpus["H200"].sms

# --- products that share an operand

WALKS = {       # a walk through the products x[i] * y[j]: how many share an operand with the one before
    "square by square, 2 × 2 each, in the order top left, top right, bottom right, bottom left, and the squares row by "
    "row from left to right": "3*TM*TN/4",
    "square by square, 2 × 2 each, in the order top left, bottom left, bottom right, top right, and the squares row by "
    "row from left to right": "TM*TN - TM/2",
    "column by column, each from top to bottom": "(TM - 1)*TN",
    "first the left half of the columns, row by row from left to right, then the right half in the same way":
        "TM*(TN - 2)",
    "first the left half of the columns, row by row to and fro, then the right half in the same way": "TM*TN - 2"}
PUBLIC_WALK = next(iter(WALKS))


def truth_of_walk(s: Numbers, TM: int, TN: int, *_) -> float:
    return evaluate(WALKS[s.walk], {"TM": TM, "TN": TN})


def unless_walk(formula: str):
    """A formula that belongs to another walk than the sheet's."""
    def answer(s: Numbers) -> str | None:
        return None if WALKS[s.walk] == formula else formula
    return answer


SHARING = Formula(
    name="sharing", points=2, asked="a formula in TM and TN, in quotes", variables=("TM", "TN"), truth=truth_of_walk,
    solution=lambda s: f'"{WALKS[s.walk]}"', whole="It holds for some TM and TN only: which of them count the turns?",
    mistakes=(
        Mistake("row-by-row", "TM*(TN - 1)", "That is the plain order, row by row. Draw the first few products of this "
                "one."),
        Mistake("to-and-fro", "TM*TN - 1", "Then every product but the first shares one. Look at the places where this "
                "walk jumps."),
        Mistake("all", "TM*TN", "That counts all products, and the first has none before it."),
        Mistake("jumps", lambda s: f"TM*TN - ({WALKS[s.walk]})", "These are the products that share none with the one "
                "before."),
        Mistake("only-rows", unless_walk("TM*TN/2"), "That counts x or y alone. Either will do."),
        Mistake("squares-share", unless_walk("TM*TN - TM/2"), "That would be so if each square began beside the place "
                "where the one before ended.")),
    hint="After which products does the next one have both a new row and a new column?")

# --- rounds


def tiles(s: Numbers) -> int:
    return blocks_along(s.rows, s.BM) * blocks_along(s.columns, s.BN)


def filled(blocks: float) -> float:
    """Percent of whole rounds that so many blocks fill."""
    return 100 * blocks / (SMS * ceil(blocks / SMS))


FILLED = Number(
    name="filled", points=3, asked="a number, in percent, or arithmetic", truth=lambda s: filled(tiles(s)),
    solution=lambda s: f"100 * {tiles(s)} / ({ceil(tiles(s) / SMS)} * {SMS})", units={0.01: "a part of one"},
    mistakes=(
        Mistake("full-tiles", lambda s: filled((s.rows // s.BM) * (s.columns // s.BN)), "At the edges of C stand tiles "
                "that are not full. They are blocks, too."),
        Mistake("not-whole", lambda s: filled(s.rows * s.columns / (s.BM * s.BN)), "Tiles come whole: round up in each "
                "direction."),
        Mistake("swapped", lambda s: filled(blocks_along(s.rows, s.BN) * blocks_along(s.columns, s.BM)), "Rows and "
                "columns of the tile are exchanged."),
        Mistake("last-round", lambda s: 100 * (tiles(s) % SMS) / SMS, "That is the last round alone. The question is "
                "about all of them."),
        Mistake("rounds", lambda s: 100 * tiles(s) / SMS, "These are rounds, in percent of one. How many whole rounds "
                "does the launch take?"),
        Mistake("empty", lambda s: 100 - filled(tiles(s)), "That is what stays empty.")),
    hint="Count the tiles first, those at the edges included, then the rounds, then the places in these rounds.")

# --- counters


def fractions_of(kernel: str) -> tuple[float, float, float]:
    """FMAs per instruction, instructions per slot, time with work, by the counters of an H200 at 4096."""
    fma, instructions, slots, clocks = counted(kernel)
    return fma / instructions, instructions / slots, slots / (4 * SMS * clocks)


def counted(kernel: str) -> tuple[float, float, float, float]:
    """FMA instructions of warps, all instructions, slots on SMs that have work, clocks of the GPU."""
    c = next(row.counters for row in gl.recorded_counters("H200", "laddercounters") if row.kernel == kernel)
    clocks = c["gpu__time_duration.sum"] * 1e-9 * gl.gpus["H200"].boost_mhz * 1e6
    return (c["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] / 32, c["smsp__inst_executed.sum"],
            c["smsp__cycles_active.sum"], clocks)


# --- what binds

SEVEN = "Reordering(BM=64, BN=128, BK=16, TM=8, TN=8)"
BOUND = (       # what binds, kernel, size
    ("slots that issue nothing", "WarpTiling(BM=128, BN=128, BK=8, TM=8, TN=8)", 4096),
    ("load/store pipe", "RegisterTiling1D(BM=64, BN=64, BK=8, TM=8)", 4096),
    ("too few blocks", SEVEN, 512),
    ("other instructions", "Pipelining(BM=128, BN=128, BK=8, TM=8, TN=8)", 4096))


def measured(s: Numbers) -> tuple[float, float, float, float, float]:
    """TFLOPS, cap of the pipe, and three fractions: FMAs, slots that issue, places of rounds that are filled."""
    _, kernel, size = BOUND[s.bound]
    law = gl.recorded_law("H200", "ladder")[kernel]
    record = gl.recorded("H200", "tuning") if size != 4096 else gl.recorded("H200", "ladder")
    fma, issued, _ = fractions_of(kernel)
    return record.tflops(kernel, size), law.cap_tflops, fma, issued, filled(blocks_of(kernel, size)) / 100


def blocks_of(kernel: str, size: int) -> int:
    """Blocks of a course kernel for a square C."""
    return prod(course_kernel(kernel).grid(size, size))


class Limit(Choice):
    """A choice that shows what was recorded of a kernel."""

    def given(self, numbers: Numbers) -> str:
        _, kernel, size = BOUND[numbers.bound]
        tflops, _, fma, issued, _ = measured(numbers)
        gpu = gl.gpus["H200"]
        return "\n".join([
            f"a kernel at M = N = K = {size} on an H200: {tflops:.1f} TFLOPS",
            f"    {blocks_of(kernel, size):>6,} blocks",
            "what its code needs, by counters at 4096:",
            f"    {gl.recorded_law('H200', 'ladder')[kernel].w:6.3f} load/store wavefronts for each warp-FMA",
            f"    {100 * fma:6.1f} FMAs among 100 instructions",
            f"    {100 * issued:6.1f} of 100 issue slots used, on SMs that have work",
            f"what the GPU can do: {gpu.peak_fp32_tflops:.1f} TFLOPS, {gpu.lsu_tflops_cap(1):.2f} TFLOPS at one "
            f"wavefront for each warp-FMA; {SMS} SMs"])


LIMIT = Limit(
    name="limit", points=3, asked="one of " + ", ".join(f'"{bound[0]}"' for bound in BOUND),
    truth=lambda s: BOUND[s.bound][0], solution=lambda s: f'"{LIMIT.truth(s)}"',
    options={
        "slots that issue nothing": "The pipe binds if the kernel comes close to its cap. If it does not, some other "
                                    "fraction is smaller than that of the slots.",
        "load/store pipe": "The cap is what the GPU can do at one wavefront for each warp-FMA, divided by w. How far "
                           "below it is the kernel?",
        "too few blocks": "Divide the blocks by the SMs, and round up: what part of these rounds is filled? Another "
                          "fraction is smaller, or the pipe's cap is near.",
        "other instructions": "They take what the FMAs leave of the instructions. Some other fraction is smaller, or "
                              "the pipe's cap is near."})

# --- what an idea is worth

COUNTED = ("RegisterTiling2D(BM=128, BN=128, BK=8, TM=8, TN=8)", "Pipelining(BM=128, BN=128, BK=8, TM=8, TN=8)",
           "Reordering(BM=64, BN=128, BK=16, TM=8, TN=8, ORDER=0)", SEVEN,
           "SlicedK(BM=64, BN=64, BK=32, TM=8, TN=8, SLICES=4)")
IDEAS = (       # which fraction becomes 1, and how that is said
    (0, "every instruction were an FMA, with as many instructions in a second as now"),
    (1, "every slot on an SM that has work issued an instruction"),
    (2, "every SM had work all the time"))


def reached(s: Numbers, *left_out: int) -> float:
    """TFLOPS if these fractions were 1."""
    fractions = fractions_of(COUNTED[s.counted])
    return gl.gpus["H200"].peak_fp32_tflops * prod(f for n, f in enumerate(fractions) if n not in left_out)


def idea(s: Numbers) -> int:
    """The fraction that the idea makes whole."""
    return IDEAS[s.idea][0]


class Worth(Number):
    """A number that follows from counters."""

    def given(self, numbers: Numbers) -> str:
        fma, instructions, slots, clocks = counted(COUNTED[numbers.counted])
        return "\n".join([
            "a kernel at M = N = K = 4096, by the counters of an H200",
            f"    {fma:>16,.0f}  FMA instructions of warps",
            f"    {instructions:>16,.0f}  instructions of warps",
            f"    {slots:>16,.0f}  issue slots of SMs that have work",
            f"    {clocks:>16,.0f}  clocks from beginning to end",
            f"the GPU: {SMS} SMs with four schedulers each, {gl.gpus['H200'].peak_fp32_tflops:.1f} TFLOPS at the peak",
            f"the idea: {IDEAS[numbers.idea][1]}"])


def worth_solution(s: Numbers) -> str:
    fma, instructions, slots, clocks = counted(COUNTED[s.counted])
    parts = (f"{fma:.0f} / {instructions:.0f}", f"{instructions:.0f} / {slots:.0f}",
             f"{slots:.0f} / (4 * {SMS} * {clocks:.0f})")
    return f"{gl.gpus['H200'].peak_fp32_tflops:.1f} * " + " * ".join(
        f"({part})" for n, part in enumerate(parts) if n != idea(s))


WORTH = Worth(
    name="worth", points=3, asked="a number of TFLOPS, or arithmetic", truth=lambda s: reached(s, idea(s)),
    solution=worth_solution, tolerance=0.002, units={1000: "GFLOPS"},
    mistakes=(
        Mistake("as-it-is", reached, "That is what the kernel reaches now: all three fractions."),
        Mistake("peak", lambda s: reached(s, 0, 1, 2), "That is the peak. The other two fractions stay as they are."),
        Mistake("only-that", lambda s: gl.gpus["H200"].peak_fp32_tflops * fractions_of(COUNTED[s.counted])[idea(s)],
                "That keeps the fraction that shall become whole, and drops the other two."),
        Mistake("first-other", lambda s: reached(s, *[n for n in range(3) if n != idea(s)][:1]),
                "That lifts another fraction than the one that the idea is about."),
        Mistake("second-other", lambda s: reached(s, *[n for n in range(3) if n != idea(s)][1:]),
                "That lifts another fraction than the one that the idea is about."),
        Mistake("twice", lambda s: reached(s) * fractions_of(COUNTED[s.counted])[idea(s)],
                "The fraction comes in twice: what becomes whole is divided out.")),
    hint="The speed is the peak times three fractions: FMAs of the instructions, instructions of the slots, slots with "
         "work of all slots. The idea makes one of them whole.")

# --- splits of what is left over

MOST_SPLITS = 8


def pieces_take(left: int, splits: int) -> float:
    """The time of the pieces of so many tiles, in units of a tile's time."""
    return ceil(left * splits / SMS) / splits


def best_splits(s: Numbers) -> int:
    return min(range(1, MOST_SPLITS + 1), key=lambda splits: pieces_take(s.tiles % SMS, splits))


def unless_best(wrong):
    """A wrong number where it is one."""
    def answer(s: Numbers) -> int | None:
        return None if wrong(s) == best_splits(s) else wrong(s)
    return answer


SPLITS = Number(
    name="splits", points=3, asked="a whole number", truth=best_splits, solution=lambda s: str(best_splits(s)),
    tolerance=1e-6,
    mistakes=(
        Mistake("most", unless_best(lambda s: MOST_SPLITS), "More pieces are shorter, and there are more of them: how "
                "many rounds do they take, the last one included?"),
        Mistake("one-round", unless_best(lambda s: SMS // (s.tiles % SMS)), "Then all pieces go into one round. Would "
                "smaller pieces in more rounds leave fewer places empty?"),
        Mistake("first-round-full", unless_best(lambda s: SMS // (s.tiles % SMS) + 1), "Then the first round of pieces "
                "is full. And the last one?"),
        Mistake("as-in-the-lesson", unless_best(lambda s: 4), "That is the lesson's, for another number of tiles."),
        Mistake("unsplit", lambda s: 1, "That is a round of whole tiles. Why wait a tile's time for so few?")),
    hint="How many tiles are left after the whole rounds? For each number of splits: how many rounds do the pieces "
         "take, and what part of a tile's time is a round of pieces?")

# --- a split K to repair

NAMES = ({}, {"acc": "dot", "total": "sum"}, {"finished": "done", "row": "y", "col": "x"},
         {"tx": "x", "ty": "y", "As": "a_tile", "Bs": "b_tile"})
DEFECTS = (     # right, wrong
    ("__threadfence();  // before the count", "__threadfence_block();  // before the count"),
    ("atomicAdd(&finished[tile], 1) == SPLITS - 1;", "blockIdx.z == SPLITS - 1;"),
    ("atomicAdd(&finished[tile], 1) == SPLITS - 1;", "finished[tile]++ == SPLITS - 1;"),
    ("to = min(K, from + part);", "to = K;"),
    ("__syncthreads();  // before one", "__syncwarp();  // before one"))


def repair_text(s: Numbers) -> str:
    text = regions.planted(cuda("parts.cu").replace("void parts", "void repair"), *DEFECTS[s.defect])
    return renamed(text, NAMES[s.names])


REPAIR = Kernel(
    name="repair", points=4, text=repair_text, repairs=1, solution=repair_text, sizes=((5, 3, 19), (37, 20, 45)),
    like=lambda s: gl.CudaGemm(repair_text(s), "repair", lambda M, N: (blocks_along(N, 16), blocks_along(M, 16), 3),
                               (16, 16)),
    advice={"race": "The block that adds up reads what other blocks have written. What makes their sums visible to "
                    "it, what says that all threads of a block have written, and how does exactly one block know that "
                    "it is the last?",
            "uninitialized": "Sums are added that nobody has written yet: when may a block take itself for the last?",
            "wrong-values": "Which values of k does each block take? Every one must belong to exactly one block."})

# --- teams


def teams_text(s: Numbers) -> str:
    return cuda(("teams.cu", "teams_turns.cu")[s.teams])


SHAPES = ((16, 16, 32, 4, (16, 16, 4)), (8, 16, 24, 3, (16, 24)))     # rows, columns, depth, teams, threads


def teams_like(s: Numbers):
    rows, columns, _, _, block = SHAPES[s.teams]
    return gl.CudaGemm(teams_text(s), "teams", lambda M, N: (blocks_along(N, columns), blocks_along(M, rows)), block)


def teams_budget(s: Numbers, M: int, N: int, K: int) -> dict[str, float]:
    """Each word of A and B once for a block, two words for a product, the sums of all teams but one handed over."""
    rows, columns, depth, teams, _ = SHAPES[s.teams]
    blocks, k = blocks_along(M, rows) * blocks_along(N, columns), blocks_along(K, depth) * depth
    handed = blocks * rows * columns * (teams - 1)
    return {"global_load_words": M * K * blocks_along(N, columns) + K * N * blocks_along(M, rows),
            "shared_load_words": blocks * rows * columns * 2 * k + handed,
            "shared_store_words": blocks * (rows + columns) * k + handed,
            "shared_bytes": 4 * (rows + columns) * depth}


TEAMS = Kernel(
    name="teams", points=7, text=teams_text, like=teams_like, budgets=teams_budget, solution=teams_text,
    sizes=((5, 3, 19), (37, 20, 45)),
    advice={"shared_load_words": "Right, with more words from shared memory than needed: does each value of k belong "
                                 "to one team, and is each sum that is handed over read once?",
            "shared_store_words": "Right, with more words stored than needed: of the sums of one element, all but one "
                                  "are handed over, each once.",
            "shared_bytes": "Right, with more shared memory than the tiles have: hands is room enough, if the teams "
                            "come one after the other.",
            "race": "A word of hands, or of a tile, is used by two threads with no barrier between: who has to have "
                    "read it before the next one may write?",
            "barrier-divergence": "Every thread of the block must come to every __syncthreads(), also those of teams "
                                  "that have nothing to hand over.",
            "out-of-bounds": "An index leaves its array: how many words has hands, and which elements of C exist?",
            "wrong-values": "Which values of k has each team, whose sums have arrived in the end, and who stores "
                            "them?"})

ASSIGNMENT = Assignment(
    lesson="06", title="Past cuBLAS", tasks=(SHARING, FILLED, LIMIT, WORTH, SPLITS, REPAIR, TEAMS),
    shown={"walk": PUBLIC_WALK, "rows": 1400, "columns": 2600, "BM": 64, "BN": 128, "tiles": 578},
    others={"walk": tuple(walk for walk in WALKS if walk != PUBLIC_WALK),
            "rows,columns,BM,BN": ((3000, 1000, 128, 64), (1700, 1900, 128, 128), (900, 5000, 64, 64),
                                   (2100, 2100, 96, 128), (5000, 700, 128, 64)),
            "tiles": (596, 178, 372, 431, 153, 741)},
    forms={"bound": 4, "counted": 5, "idea": 3, "names": 4, "defect": 5, "teams": 2},
    meaning={"walk": "through the products, in task 1", "rows": "of C, in task 2", "columns": "of C, in task 2",
             "BM": "rows of a tile, in task 2", "BN": "and its columns", "tiles": "of C, in task 5"})
