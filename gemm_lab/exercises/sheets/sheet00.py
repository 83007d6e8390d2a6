"""Exercises for lesson 00: how big the problem is, what can be asked of the emulator, and a first repair."""

from __future__ import annotations

from random import Random

import gemm_lab as gl
from gemm_lab.exercises import regions
from gemm_lab.exercises.assignment import Assignment
from gemm_lab.exercises.choice_tasks import Statements
from gemm_lab.exercises.formula_tasks import Formula, Number
from gemm_lab.exercises.kernel_tasks import Kernel
from gemm_lab.exercises.sheets import cuda, renamed
from gemm_lab.exercises.tasks import Mistake, Numbers

FORMULA = "a formula in M, N and K, in quotes, such as \"M*N + K\""
NUMBER = "a number, or arithmetic such as 2 * 10**3 / 7"

# --- operations and bytes

UNITS = {"floating-point operations": 2, "FMAs": 1}


def operations(s: Numbers) -> str:
    return "2*M*N*K" if s.unit == "floating-point operations" else "M*N*K"


FLOPS = Formula(
    name="flops", points=2, asked=FORMULA, truth=lambda s, M, N, K: UNITS[s.unit] * M * N * K,
    solution=lambda s: f'"{operations(s)}"',
    units={2: "floating-point operations, where an FMA counts as two", 0.5: "FMAs, each of which is two operations"},
    mistakes=(
        Mistake("square-only", lambda s: "2*N**3" if s.unit != "FMAs" else "N**3",
                "It holds for square matrices only. How many elements has C, and how many products does one take?"),
        Mistake("adds-one-less", "M*N*(2*K - 1)", "The sum starts at 0, so each product takes an addition. (On paper "
                                                  "one "
                "could save the first; a kernel does not.)"),
        Mistake("elements", "M*K + K*N + M*N", "These are elements of the matrices. What is asked is work: products."),
        Mistake("per-element", lambda s: "2*K" if s.unit != "FMAs" else "K", "That is for one element of C."),
        Mistake("all-sizes-squared", "M*N*K*(M + N)", "Too much: every element of C takes one pass along K.")),
    hint="How many elements has C, and how many products does each of them take?")


def moved(s: Numbers) -> str:
    return "4*(M*K + K*N + M*N)" if s.beta == "0" else "4*(M*K + K*N + 2*M*N)"


DATA = Formula(
    name="data", points=2, asked=FORMULA, solution=lambda s: f'"{moved(s)}"',
    truth=lambda s, M, N, K: 4 * (M * K + K * N + M * N + (M * N if s.beta != "0" else 0)),
    units={0.25: "words, each of 4 bytes", 2: "bytes of 8-byte numbers; a float has 4", 8: "bits"},
    mistakes=(
        Mistake("c-read-or-not", lambda s: "4*(M*K + K*N + 2*M*N)" if s.beta == "0" else "4*(M*K + K*N + M*N)",
                "Look at C again: is it only written, or also read, at this beta?"),
        Mistake("c-left-out", "4*(M*K + K*N)", "The result must move, too."),
        Mistake("elements-squared", "12*N**2", "It holds for square matrices only: write each matrix with its own "
                                               "sizes."),
        Mistake("three-n-squared", "3*N**2", "3N² are elements of square matrices; asked are bytes, for any sizes."),
        Mistake("what-threads-read", "8*M*N*K", "This is what the threads of the obvious kernel ask for. Here every "
                "element moves once.")),
    hint="Write down the elements of each matrix, and what one element takes.")

# --- times

WORD = 4        # bytes


def ridge_size(s: Numbers) -> float:
    gpu = gl.gpus[s.gpu]
    return 6 * gpu.peak_fp32_tflops * 1e3 / gpu.dram_gbs


def per_byte(s: Numbers) -> float:
    return gl.gpus[s.gpu].ridge


RIDGE = Number(
    name="ridge", points=3, asked=NUMBER, truth=ridge_size, tolerance=0.02,
    solution=lambda s: f"6 * {gl.gpus[s.gpu].peak_fp32_tflops * 1000:.0f} / {gl.gpus[s.gpu].dram_gbs:g}",
    units={1e3: "off by a thousand: TFLOPS and GB/s differ by it", 1e-3: "off by a thousand: TFLOPS and GB/s differ by "
                                                                         "it"},
    mistakes=(
        Mistake("intensity-is-n", per_byte, "That is the FLOP per byte at which the GPU balances. From which N on does "
                                            "a "
                "multiplication have that many? Its intensity is not N."),
        Mistake("words-for-bytes", lambda s: 1.5 * per_byte(s), "3N² are elements; how many bytes are they?"),
        Mistake("fma-for-flop", lambda s: 12 * per_byte(s), "The peak counts an FMA as two operations; so must N³."),
        Mistake("one-matrix", lambda s: 2 * per_byte(s), "That moves one matrix. There are three."),
        Mistake("two-matrices", lambda s: 4 * per_byte(s), "That moves two matrices. There are three."),
        Mistake("upside-down", lambda s: 6 / per_byte(s), "Bandwidth over peak says how many bytes go with an "
                                                          "operation; "
                "turn it round.")),
    hint="Set the intensity 2N³ / 12N² equal to the FLOP that the GPU can do per byte.")


def compute_us(s: Numbers) -> float:
    return 2 * s.n**3 / gl.gpus[s.gpu].peak_fp32_tflops / 1e6


def move_us(s: Numbers) -> float:
    return 12 * s.n**2 / gl.gpus[s.gpu].dram_gbs / 1e3


TIME = Number(
    name="time", points=3, asked=NUMBER, truth=lambda s: max(compute_us(s), move_us(s)), tolerance=0.02,
    solution=lambda s: repr(round(max(compute_us(s), move_us(s)), 3)),
    units={1e-3: "milliseconds", 1e3: "nanoseconds", 1e-6: "seconds"},
    mistakes=(
        Mistake("the-shorter-one", lambda s: min(compute_us(s), move_us(s)), "Both must be done, and the longer of the "
                                                                             "two "
                "sets the time. Which is it on this side of the ridge?"),
        Mistake("sum", lambda s: compute_us(s) + move_us(s), "A GPU moves data and computes at the same time: \"at "
                                                             "least\" "
                "is the longer of the two, not their sum."),
        Mistake("elements-for-bytes", lambda s: move_us(s) / WORD, "3n² are elements; each is 4 bytes."),
        Mistake("one-matrix", lambda s: move_us(s) / 3, "That moves one matrix. There are three."),
        Mistake("fma-for-flop", lambda s: compute_us(s) / 2, "An FMA counts as two operations."),
        Mistake("two-matrices", lambda s: move_us(s) * 2 / 3, "The result must move, too.")),
    hint="How long do the operations take at the peak, and how long the matrices at the DRAM's bandwidth?")

# --- the emulator

ASKED = (
    ("is every element of C right?", True, ""),
    ("how many words does each source line read?", True, ""),
    ("do two threads write to the same place without a barrier?", True, ""),
    ("how many 32-byte sectors does global memory deliver to the SMs?", True, ""),
    ("how many microseconds does the kernel take on an H200?", False, "The emulator counts what the instructions do "
                                                                      "and "
     "knows nothing of how long they take."),
    ("which of two kernels is faster?", False, "Counts can explain a speed; which kernel is faster is a measurement."),
    ("how often does a load find its word in L1?", False, "Caches are not modelled, L1 no more than L2."),
    ("is the kernel right for every size?", False, "A check speaks of the sizes that it tried."),
)


def questions(s: Numbers):
    """Six of the questions, in an order of the sheet's own."""
    if s.questions == 0:
        return [ASKED[n] for n in (0, 4, 1, 6, 2, 5)]
    true, false = [q for q in ASKED if q[1]], [q for q in ASKED if not q[1]]
    random = Random(s.questions)
    chosen = random.sample(true, 2) + random.sample(false, 4)   # two, where the public sheet has three
    random.shuffle(chosen)
    return chosen


EMULATOR = Statements(
    name="emulator", points=2, asked="the letters of the questions, in quotes, such as \"bd\"", statements=questions,
    solution=lambda s: repr("".join(chr(ord("a") + n) for n, (_, true, _) in enumerate(questions(s)) if true)))

# --- a first repair

NAMES = ({}, {"row": "i", "col": "j", "acc": "sum"}, {"row": "y", "col": "x", "c": "out", "acc": "dot"},
         {"row": "r", "col": "s", "acc": "total", "c": "to"})
STORED = "*c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;"
BUGS = ("*c = alpha * acc + beta * *c;",
        "*c = beta == 0.0f ? acc : alpha * acc + beta * *c;",
        "*c = beta == 0.0f ? alpha * acc : alpha * (acc + beta * *c);",
        "*c = alpha * acc;")


def scaled(s: Numbers) -> str:
    text = regions.planted(cuda("element.cu").replace("element", "scaled"), STORED, BUGS[s.bug])
    return renamed(text, NAMES[s.names])


SCALED = Kernel(
    name="scaled", points=4, text=scaled, repairs=1, sizes=((5, 3, 19), (33, 40, 7), (20, 35, 33)),
    like=lambda s: gl.Naive().with_source(cuda("element.cu"), entry="scaled"), solution=scaled,
    advice={"wrong-values": "Compare what the line stores with alpha*A*B + beta*C, once for beta = 0 and once for "
                            "another "
            "beta. Where beta is 0, C may hold anything, NaN included."})

ASSIGNMENT = Assignment(
    lesson="00", title="Start here", tasks=(FLOPS, DATA, RIDGE, TIME, EMULATOR, SCALED),
    shown={"unit": "floating-point operations", "beta": "0", "gpu": "T4", "n": 96},
    others={"unit": ("FMAs",), "beta": ("not 0",),
            "gpu,n": (("RTX 3090", 64), ("RTX 4090", 128), ("A100 SXM 40 GB", 32), ("L4", 128), ("RTX 3090", 4096),
                      ("RTX 4090", 2048), ("L4", 2048))},
    forms={"questions": 9, "names": 4, "bug": 4},
    meaning={"unit": "in task 1", "beta": "in task 2", "gpu": "the GPU of tasks 3 and 4: see gl.gpus",
             "n": "M = N = K in task 4"})
