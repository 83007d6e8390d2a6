"""Which products are fused into sums: the PTX as the emulator reads it, against the machine code that ptxas makes."""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.compiler import compile_ptx
from gemm_lab.emulator import flow, fusing, reader
from tests.against_ptxas import KERNEL, disassembled, program

FORMS = {  # what stands in the kernel -> multiply-adds, products, sums
    "d[t] = c - a * b;": (1, 0, 0),
    "d[t] = a * b - c;": (1, 0, 0),
    "d[t] = a * b - c * e;": (1, 1, 0),
    "d[t] = c - a * b * e;": (1, 1, 0),
    "d[t] = a * 0.5f - e;": (1, 0, 0),
    "const float p = a * b; d[t] = c - p; d[t + 99] = p - e;": (2, 0, 0),
    "const float p = a * b; d[t] = c - p; d[t + 99] = p;": (0, 1, 1),
    "const float p = a * b; d[t] = p + c; d[t + 99] = p;": (0, 1, 1),
    "const float p = a * b; d[t] = c - p; d[t + 99] = fmaf(p, c, e);": (1, 1, 1),
    "const float p = a * b; d[t] = p > e ? c - p : c;": (0, 1, 1),
    "const float p = a * b; d[t] = p * c - p;": (1, 1, 0),
    "const float p = a * b; d[t] = p - c * e; d[t + 99] = a - p;": (1, 1, 1),
    "const float q = c * e; d[t] = a * b - q; d[t + 99] = a - q;": (1, 1, 1),
    "const float p = a * b, q = c * e; d[t] = p - q; d[t + 99] = q - p;": (2, 1, 0),
    "const float p = a * b, q = c * e; d[t] = p - q; d[t + 99] = a - p; d[t + 98] = b - q;": (2, 1, 1),
    "d[t] = __fsub_rn(c, a * b);": (0, 1, 1),
    "d[t] = c - __fmul_rn(a, b);": (0, 1, 1),
    "const double x = a, y = b; d[t] = (float)(c - x * y);": (1, 0, 0),
    "float s = c;\n#pragma unroll 1\nfor (int k = 0; k < n; ++k) s -= A[k] * b;\nd[t] = s;": (1, 0, 0),
    "float s = c; const float p = a * b;\n#pragma unroll 1\nfor (int k = 0; k < n; ++k) s = A[k] - p - s;\nd[t] = s;":
        (0, 1, 2),
    "float s = c; const float p = a * b;\n#pragma unroll 1\nfor (int k = 0; k < n; ++k) s = A[k] - s;\nd[t] = s - p;":
        (1, 0, 1),
    "const float p = a * b; __syncthreads(); d[t] = c - p;": (1, 0, 0),
    "const float p = a * b; float s = c;\nif (n > 3) { d[t + 50] = s; __syncthreads(); s = c - p; } d[t] = s;":
        (1, 0, 0),
    "const float p = a * b; float s = c; if (n > 3) { d[t + 50] = s; __syncthreads(); s = c - p; d[t + 51] = s; }\n"
    "if (n > 7) { d[t + 60] = 3; __syncthreads(); d[t + 61] = e - p; } d[t] = s;": (0, 1, 2),
}


RANDOM = 40


def bodies() -> list[str]:
    """What stands in the kernels k0, k1, ..."""
    return [*FORMS, *(expressions(random.Random(seed)) for seed in range(RANDOM))]


@cache
def source() -> str:
    return program(bodies())


def read(n: int) -> tuple[int, int, int]:
    """Multiply-adds, products and sums of a kernel as the emulator executes them."""
    blocks = flow.basic_blocks(reader.parse(compile_ptx(source(), "k0").text, f"k{n}"))
    fusing.fuse(blocks)
    counts = Counter(i.opcode[0] for block in blocks for i in block.instructions if i.opcode[-1] in fusing.TYPES)
    return counts["fma"], counts["mul"], counts["add"] + counts["sub"]


def assembled(n: int) -> tuple[int, int, int]:
    """The same in the machine code."""
    text = disassembled(source())[f"k{n}"]
    return tuple(len(re.findall(rf"\b[FD]{name}\b", text)) for name in ("FMA", "MUL", "ADD"))


@pytest.mark.parametrize("form", FORMS)
def test_as_ptxas_does_it(form):
    n = list(FORMS).index(form)
    assert read(n) == FORMS[form] == assembled(n)


@pytest.mark.parametrize("seed", range(RANDOM))
def test_random_expressions(seed):
    n = len(FORMS) + seed
    assert read(n) == assembled(n), bodies()[n]


def expressions(rng: random.Random) -> str:
    """A few variables, each made of those before it; some are stored."""
    names, lines = ["a", "b", "c", "e"], []
    for n in range(rng.randint(3, 7)):
        x, y, z, w = (rng.choice(names) for _ in range(4))
        term = rng.choice([f"{x} * {y}", f"{x} - {y}", f"{x} + {y}", f"{z} - {x} * {y}", f"{x} * {y} - {z}",
                           f"{x} * {y} - {z} * {w}"])
        lines.append(f"const float v{n} = {term};")
        names.append(f"v{n}")
    stored = rng.sample(names[4:], rng.randint(1, len(names) - 4))
    return "\n".join(lines + [f"d[t + {100 * n}] = {name};" for n, name in enumerate(stored)])


def test_values_are_rounded_once():
    """a*b = 1 + 2^-11 + 2^-24 has one bit more than a float, and c is all the others."""
    a, c = 1 + 2.0**-12, 1 + 2.0**-11
    source = KERNEL % ("k", "d[t] = c - a * b; d[t + 32] = a * b - c; d[t + 64] = __fsub_rn(c, __fmul_rn(a, b));")
    A, d = np.repeat(np.float32([a, a, c, 0]), 32), np.zeros(96, np.float32)
    run = gl.emulate(source, "k", 1, 32, [1, A, d])
    assert d.reshape(3, 32)[:, 0].tolist() == [-2.0**-24, 2.0**-24, 0] and run.counts.fma == 64


def test_factors_may_change_before_the_sum():
    a, c = 1 + 2.0**-12, 1 + 2.0**-11
    source = KERNEL % ("k", """float x = a, r;
    asm volatile("{ .reg .f32 p; mul.f32 p, %1, %2; mov.f32 %1, 0f00000000; sub.f32 %0, %3, p; }"
                 : "=f"(r), "+f"(x) : "f"(b), "f"(c));
    d[t] = r; d[t + 32] = x;""")
    A, d = np.repeat(np.float32([a, a, c, 0]), 32), np.ones(64, np.float32)
    gl.emulate(source, "k", 1, 32, [1, A, d])
    assert d.reshape(2, 32)[:, 0].tolist() == [-2.0**-24, 0]
