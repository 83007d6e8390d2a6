"""Which multiply-adds are predicated: the PTX as the emulator reads it, against the machine code that ptxas makes."""

from __future__ import annotations

import random
import re
from functools import cache

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.compiler import compile_ptx
from gemm_lab.emulator import flow, fusing, reader, selecting
from tests.against_ptxas import KERNEL, disassembled, program

FORMS = {  # what stands in the kernel -> (multiply-adds with a predicate, without)
    "d[t] = a > e ? c + a * b : c;": (1, 0),
    "d[t] = a > e ? c : c + a * b;": (1, 0),
    "d[t] = a > e ? c - a * b : c;": (1, 0),
    "d[t] = a > e ? a * b - c : c;": (1, 0),
    "d[t] = a > e ? c + a * b : e;": (1, 0),
    "d[t] = a > e ? c + a * b : a;": (1, 0),
    "d[t] = a > e ? c * 3.0f + 2.0f : c;": (1, 0),
    "d[t] = a > e ? c + a * b : 0.0f;": (0, 1),
    "d[t] = a > e ? c + a * b : c * e;": (0, 1),    # the other product is made only where it is wanted
    "d[t] = a > e ? c + a * b : (float)n;": (0, 1),
    "const float s = c + a * b; d[t] = a > e ? s : c; d[t + 99] = s;": (0, 1),
    "const float s = c + a * b; d[t] = a > e ? s : c; d[t + 99] = c;": (0, 1),
    "const float s = c + a * b; d[t] = s > e ? s : c;": (0, 1),
    "const float s = c + a * b; d[t] = a > e ? s : c; d[t + 99] = b > e ? s : c;": (0, 1),
    "float s = c; if (a > 3) { s += a * b; s += e * b; } d[t] = s;": (1, 1),
    "float s = c; if (a > e) s += a * b; if (b > e) s += a * e; d[t] = s;": (2, 0),
    "float s = c, r = e; if (a > e) s += a * b; else r += a * b; d[t] = s; d[t + 77] = r;": (2, 0),
    "float s = c; if (n > 3) s += a * b; __syncthreads(); d[t] = s;": (1, 0),
    "float s = c;\n#pragma unroll\nfor (int k = 0; k < 4; ++k) if (t + k < n) s += a * b;\nd[t] = s;": (4, 0),
    "float s = 0;\n#pragma unroll 1\nfor (int k = 0; k < n; ++k) if (A[k] > 0) s += A[k] * b;\nd[t] = s;": (1, 0),
    "float s = 0, r = 0;\n#pragma unroll 1\nfor (int k = 0; k < n; ++k) if (A[k] > 0) s += A[k]; else r -= A[k] * b;\n"
    "d[t] = s - r;": (1, 0),
    "const double x = a, y = b, z = c; d[t] = (float)(a > e ? z + x * y : z);": (0, 1),
    "d[t] = fmaxf(a * b + c, c);": (0, 1),
}

RANDOM = 60


def bodies() -> list[str]:
    """What stands in the kernels k0, k1, ..."""
    return [*FORMS, *(choices(random.Random(seed)) for seed in range(RANDOM))]


def choices(rng: random.Random) -> str:
    """A few variables, each made of those before it, many of them by a choice; some are stored."""
    names, lines = ["a", "b", "c", "e"], []
    for n in range(rng.randint(2, 6)):
        x, y, z, w, p, q = (rng.choice(names) for _ in range(6))
        term = rng.choice([f"{p} > {q} ? {x} * {y} + {z} : {z}", f"{p} > {q} ? {z} : {x} * {y} + {z}",
                           f"{p} > {q} ? {x} * {y} + {z} : {w}", f"{x} * {y} + {z}", f"{x} + {y}"])
        lines.append(f"const float v{n} = {term};")
        names.append(f"v{n}")
    stored = rng.sample(names[4:], rng.randint(1, len(names) - 4))
    return "\n".join(lines + [f"d[t + {100 * n}] = {name};" for n, name in enumerate(stored)])


@cache
def source() -> str:
    return program(bodies())


def read(n: int) -> tuple[int, int]:
    """Multiply-adds of a kernel as the emulator executes them: with a predicate, without."""
    blocks = flow.basic_blocks(reader.parse(compile_ptx(source(), "k0").text, f"k{n}"))
    fusing.fuse(blocks)
    selecting.select(blocks)
    found = [i.guard is not None for block in blocks for i in block.instructions if i.is_fma]
    return sum(found), len(found) - sum(found)


def assembled(n: int) -> tuple[int, int]:
    """The same in the machine code."""
    found = [bool(predicate) for predicate in re.findall(r"(@!?P\d +)?\b[FD]FMA\b", disassembled(source())[f"k{n}"])]
    return sum(found), len(found) - sum(found)


@pytest.mark.parametrize("form", FORMS)
def test_as_ptxas_does_it(form):
    n = list(FORMS).index(form)
    assert read(n) == FORMS[form] == assembled(n)


@pytest.mark.parametrize("seed", range(RANDOM))
def test_random_choices(seed):
    n = len(FORMS) + seed
    assert read(n) == assembled(n), bodies()[n]


# --- executed, by either back end

@pytest.fixture(params=["numpy", "llvm"])
def back_end(request, monkeypatch):
    if request.param == "llvm":
        pytest.importorskip("llvmlite")
    monkeypatch.setenv("GEMM_LAB_EMULATOR", request.param)
    return request.param


def execute(body: str, n: int, back_end: str) -> tuple[np.ndarray, np.ndarray, int]:
    """A as four rows of 32 whole numbers, the first row of d, and how many FMAs were counted."""
    A, d = np.random.default_rng(5).integers(-9, 9, 32 * 4).astype(np.float32), np.zeros(999, np.float32)
    run = gl.emulate(KERNEL % ("k", body), "k", 1, 32, [n, A, d])
    assert run.emulator == back_end
    return A.reshape(4, 32), d[:32], run.counts.fma


@pytest.mark.parametrize(("condition", "negated"), [("a > e ? c + a * b : c", False), ("a > e ? e : c - a * b", True)])
def test_threads_that_do_not_choose_the_sum_are_not_counted(back_end, condition, negated):
    (a, b, c, e), d, fma = execute(f"d[t] = {condition};", 0, back_end)
    chosen = (a > e) ^ negated
    assert 0 < np.count_nonzero(chosen) < 32 and fma == np.count_nonzero(chosen)
    assert d.tolist() == np.where(chosen, c - a * b if negated else c + a * b, e if negated else c).tolist()


def test_in_a_loop(back_end):
    (a, b, c, e), d, fma = execute("""float s = c, r = e;
    for (int k = 0; k < n; ++k) if (A[(t + k) % 32] > 0) s += A[k] * b; else r -= A[k] * b;
    d[t] = s - r;""", 11, back_end)
    chosen = a[(np.arange(32) + np.arange(11)[:, None]) % 32] > 0
    assert d.tolist() == (c - e + b * a[:11].sum()).tolist()
    assert fma == 32 * 11 and chosen.any() and not chosen.all(), "every thread adds to one of its two sums"


@pytest.mark.parametrize(("change", "kept", "exact"), [
    ("", 1, True), ("mov.f32 %1, 0f00000000;", 1, False), ("mov.f32 %2, 0f00000000;", 0, False)])
def test_what_changes_before_the_choice(back_end, change, kept, exact):
    """Nothing; a factor; what is added and kept: it is then not moved, and all threads are counted."""
    (a, b, c, e), d, fma = execute(f"""float x = a, z = c, r;
    asm volatile("{{ .reg .f32 s; .reg .pred p; setp.gt.f32 p, %3, %4; fma.rn.f32 s, %1, %3, %2; {change} "
                 "selp.f32 %0, s, %2, p; }}" : "=f"(r), "+f"(x), "+f"(z) : "f"(b), "f"(e));
    d[t] = r;""", 0, back_end)
    assert d.tolist() == np.where(b > e, a * b + c, kept * c).tolist()
    assert fma == (np.count_nonzero(b > e) if exact else 32)


def test_both_may_be_the_sum(back_end):
    (a, b, c, _), d, fma = execute("""float r;
    asm volatile("{ .reg .f32 s; .reg .pred p; setp.gt.f32 p, %1, %2; fma.rn.f32 s, %1, %2, %3; "
                 "selp.f32 %0, s, s, p; }" : "=f"(r) : "f"(a), "f"(b), "f"(c));
    d[t] = r;""", 0, back_end)
    assert d.tolist() == (a * b + c).tolist() and fma == 32
