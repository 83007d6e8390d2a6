"""Arithmetic against independent oracles: the C library's fma, exact fractions, Python's integers."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from fractions import Fraction

import numpy as np
import pytest

from gemm_lab.emulator import emulate, floats, integers
from gemm_lab.emulator.instructions import meaning, opposite
from gemm_lab.emulator.ptx import Unsupported

F32 = np.float32


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="module")
def libm():
    name = ctypes.util.find_library("m") or ctypes.util.find_library("msvcrt")
    if name is None:
        pytest.skip("no C library with fmaf found")
    library = ctypes.CDLL(name)
    library.fmaf.restype, library.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    library.fma.restype, library.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return library


def random_bits(n, kind="u4", seed=0):
    size = np.dtype(kind).itemsize * 8
    return np.random.default_rng(seed).integers(0, 2**size, n, dtype=kind)


def float_cases(n=20000):
    """Random bits (NaN and inf included), normal numbers, sums that nearly tie, subnormal results."""
    r = np.random.default_rng(1)
    yield "bits", *(random_bits(n, seed=s).view(F32) for s in (1, 2, 3))
    yield "normal", *(r.standard_normal(n).astype(F32) for _ in range(3))
    near_one = lambda: (1 + r.integers(0, 2**11, n) * 2.0**-12).astype(F32)    # noqa: E731
    yield "ties", near_one(), near_one(), (r.choice([-1, 1], n) * 2.0**-r.integers(20, 90, n)).astype(F32)
    small = lambda e: (r.standard_normal(n) * 2.0**e).astype(F32)    # noqa: E731
    yield "subnormal", small(-70), small(-70), small(-130)
    # Just beside the midpoint between two subnormals: m * 2^-149 + 2^-150 (1 +- tiny).
    yield ("subnormal ties", np.full(n, 2.0**-75, F32), (2.0**-75 * (1 + r.choice([-1, 1], n) * 2.0**-23)).astype(F32),
           (r.integers(-2**20, 2**20, n) * 2.0**-149).astype(F32))
    yield "cancel", (a := near_one()), (b := near_one()), (-(a.astype(float) * b)).astype(F32)
    yield "zeros", *(r.choice(np.array([0.0, -0.0, 1.0, -1.0, np.inf, 2.0**-149], F32), n) for _ in range(3))


@pytest.mark.parametrize("case", list(float_cases()), ids=lambda c: c[0])
def test_fma32_is_the_c_librarys(libm, case):
    _, a, b, c = case
    want = np.array([libm.fmaf(*map(float, x)) for x in zip(a, b, c)], F32)
    got = floats.fma32(a, b, c)
    number = ~np.isnan(want)
    assert np.array_equal(got[number].view(np.uint32), want[number].view(np.uint32))
    assert (got[~number].view(np.uint32) == 0x7FFFFFFF).all(), "the GPU has one NaN"


def test_fma32_of_scalars_and_arrays(libm):
    a = np.arange(1, 5, dtype=F32) / 3
    assert floats.fma32(a[1], a[2], a[3]) == F32(libm.fmaf(a[1], a[2], a[3]))
    assert np.array_equal(floats.fma32(a[1], a, a[3]), [F32(libm.fmaf(a[1], x, a[3])) for x in a])


def test_fma64_is_the_c_librarys(libm):
    r = np.random.default_rng(4)
    n = 3000
    near = lambda: 1 + r.integers(0, 2**26, n) * 2.0**-52    # noqa: E731
    a, b = near(), near()
    cases = [(a, b, -(a * b)), (a, b, r.standard_normal(n) * 2.0**-60), (a, np.zeros(n), b),
             tuple(r.standard_normal(n) * 2.0**r.integers(-600, 600, n) for _ in range(3)),
             tuple(random_bits(n, "u8", s).view(float) for s in range(3))]
    for case in cases:
        a, b, c = case
        want = np.array([libm.fma(*map(float, x)) for x in zip(a, b, c)])
        got = floats.fma64(a, b, c)
        assert np.array_equal(got, want, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(want)) or np.isnan(want).any()


def exactly(name, *x):
    x = [Fraction(float(v)) for v in x]
    return {"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1], "mul": lambda: x[0] * x[1],
            "fma": lambda: x[0] * x[1] + x[2], "div": lambda: x[0] / x[1], "rcp": lambda: 1 / x[0]}[name]()


@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma", "div", "rcp"])
@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_directed_rounding_brackets_the_exact_result(name, mode):
    r = np.random.default_rng(5)
    sources = [(r.standard_normal(300) * 2.0**r.integers(-30, 30, 300)).astype(F32)
               for _ in range({"rcp": 1, "fma": 3}.get(name, 2))]
    for got, *x in zip(floats.float32_op(name, mode)(*sources), *sources):
        exact = exactly(name, *x)
        towards = {"rm": -math.inf, "rp": math.inf, "rz": -math.inf if exact > 0 else math.inf}[mode]
        assert Fraction(float(got)) <= exact if towards < 0 else Fraction(float(got)) >= exact
        beyond = Fraction(float(np.nextafter(got, F32(-towards))))    # the next float is on the other side
        assert beyond > exact if towards < 0 else beyond < exact


def test_square_root_rounds_down_and_up():
    x = np.abs(np.random.default_rng(6).standard_normal(200)).astype(F32)
    down, up = floats.float32_op("sqrt", "rm")(x), floats.float32_op("sqrt", "rp")(x)
    for low, high, v in zip(down, up, x):
        assert Fraction(float(low))**2 <= Fraction(float(v)) <= Fraction(float(high))**2
        assert high in (low, np.nextafter(low, F32(2)))


def test_minimum_and_maximum_of_zeros_and_nan():
    a = np.array([0.0, -0.0, np.nan, 1, np.nan, -np.inf], F32)
    b = np.array([-0.0, 0.0, 2, np.nan, np.nan, 3], F32)
    low, high = (meaning((op, "f32")).function(a, b) for op in ("min", "max"))
    assert np.signbit(low[:2]).all() and not np.signbit(high[:2]).any()
    assert low[2:4].tolist() == high[2:4].tolist() == [2, 1]
    assert low.view(np.uint32)[4] == high.view(np.uint32)[4] == 0x7FFFFFFF
    assert (low[5], high[5]) == (-np.inf, 3)


def test_flush_and_saturate():
    tiny = np.array([2.0**-140, -(2.0**-140), 2.0**-126, -0.0], F32)
    got = meaning(("add", "ftz", "f32")).function(tiny, F32(0) * tiny)
    assert got.tolist() == [0, 0, 2.0**-126, 0]
    assert meaning(("mul", "ftz", "f32")).function(F32(2.0**-100), F32(2.0**-40)) == 0
    x = np.array([-1, 0.25, 7, np.nan, np.inf], F32)
    assert meaning(("mul", "sat", "f32")).function(x, F32(1)).tolist() == [0, 0.25, 1, 0, 1]


@pytest.mark.parametrize("text, names", [("lt le gt ge eq ne", "ordered"), ("ltu leu gtu geu equ neu", "unordered")])
def test_float_comparisons_with_nan(text, names):
    a, b = np.array([1, 2, 2, np.nan, 1], F32), np.array([2, 1, 2, 1, np.nan], F32)
    python = {"lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
              "eq": lambda x, y: x == y, "ne": lambda x, y: x != y}
    for op in text.split():
        want = [python[op[:2]](x, y) if x == x and y == y else names == "unordered" for x, y in zip(a, b)]
        assert meaning(("setp", op, "f32")).function(a, b).tolist() == want


def test_setp_with_a_third_predicate_and_a_second_result():
    a, p = np.array([1, 5, 1, 5], np.int32), np.array([True, True, False, False])
    for name, join in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
        opcode = ("setp", "lt", name, "s32")
        assert np.array_equal(meaning(opcode).function(a, np.int32(3), p), join(a < 3, p))
        assert np.array_equal(opposite(opcode)(a, np.int32(3), p), join(a >= 3, p))


@pytest.mark.parametrize("opcode", ["cvt.rzi.s32.f32", "cvt.rni.u32.f32", "cvt.rmi.s64.f64", "cvt.rpi.u64.f64",
                                    "cvt.rzi.s8.f32", "cvt.rzi.u16.f64"])
def test_float_to_int(opcode):
    _, mode, to, source = opcode.split(".")
    kind, bits = to[0], int(to[1:])
    low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if kind == "s" else (0, 2**bits - 1)
    dtype = F32 if source == "f32" else np.float64
    x = np.array([0, 0.5, 1.5, 2.5, -0.5, -1.5, 99.9, 3e9, -3e9, 1e30, -1e30, np.inf, -np.inf], dtype)
    rounded = {"rzi": math.trunc, "rni": round, "rmi": math.floor, "rpi": math.ceil}[mode]
    want = [min(max(rounded(float(v)) if math.isfinite(v) else int(math.copysign(2**80, v)), low), high) for v in x]
    convert = meaning(tuple(opcode.split("."))).function
    assert convert(x).tolist() == want
    nan = 0 if source == "f32" and bits < 64 else (-2**(bits - 1) if kind == "s" else 2**(bits - 1))
    assert convert(np.array([np.nan], dtype)).tolist() == [nan]


def test_int_to_float_in_every_direction():
    x = np.array([2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31) + 1, 2**25 + 3, 7], np.int32)
    nearest, zero, down, up = (meaning(("cvt", mode, "f32", "s32")).function(x) for mode in ("rn", "rz", "rm", "rp"))
    assert nearest.dtype == zero.dtype == F32
    assert [int(v) for v in nearest] == [2**24, -2**24, 2**31, -2**31, 2**25 + 4, 7]
    assert [int(v) for v in down] == [2**24, -2**24 - 2, 2**31 - 128, -2**31, 2**25, 7]
    assert [int(v) for v in up] == [2**24 + 2, -2**24, 2**31, -2**31 + 128, 2**25 + 4, 7]
    assert [int(v) for v in zero] == [2**24, -2**24, 2**31 - 128, -2**31 + 128, 2**25, 7]


def test_division_truncates_and_extreme_cases():
    a = np.array([7, -7, 7, -7, -2**31, 5], np.int32)
    b = np.array([2, 2, -2, -2, -1, 0], np.int32)
    assert integers.divide(a, b).tolist()[:5] == [3, -3, -3, 3, -2**31]
    assert integers.remainder(a, b).tolist()[:5] == [1, -1, 1, -1, 0]
    u = np.array([2**64 - 1], np.uint64)
    assert integers.divide(u, np.uint64(10)).tolist() == [(2**64 - 1) // 10]


@pytest.mark.parametrize("kind", ["s16", "u16", "s32", "u32", "s64", "u64"])
def test_high_products(kind):
    bits = int(kind[1:])
    dtype = f"{'i' if kind[0] == 's' else 'u'}{bits // 8}"
    a, b = (random_bits(200, f"u{bits // 8}", s).view(dtype) for s in (1, 2))
    want = [int(x) * int(y) >> bits for x, y in zip(a, b)]
    assert meaning(("mul", "hi", kind)).function(a, b).tolist() == want


def bits_of(x, bits):
    return int(x) & (2**bits - 1)


@pytest.mark.parametrize("bits", [32, 64])
def test_shifts_clamp_their_count(bits):
    x = random_bits(100, f"u{bits // 8}")
    count = np.arange(100, dtype=np.int32)
    shifted = meaning(("shl", f"b{bits}")).function(x.view(f"i{bits // 8}"), count)
    want = [(int(v) << int(n)) % 2**bits if n < bits else 0 for v, n in zip(x, count)]
    assert [bits_of(v, bits) for v in shifted] == want
    assert meaning(("shr", f"u{bits}")).function(x, count).tolist() == [int(v) >> int(n) for v, n in zip(x, count)]
    s = x.view(f"i{bits // 8}")
    assert meaning(("shr", f"s{bits}")).function(s, count).tolist() == [int(v) >> int(n) for v, n in zip(s, count)]
    assert meaning(("shr", f"b{bits}")).sources[0] == f"u{bits}"    # untyped bits are filled with zeros
    for n in (0, 5, bits - 1, bits, 200):    # the same with the count as a scalar
        one = meaning(("shl", f"b{bits}")).function(s, np.int32(n))
        assert [bits_of(v, bits) for v in one] == [(int(v) << n) % 2**bits if n < bits else 0 for v in x]
        assert meaning(("shr", f"s{bits}")).function(s, np.int32(n)).tolist() == [int(v) >> n for v in s]


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bit_fields(kind):
    """The manual's loop, bit by bit (PTX ISA, bfe and bfi)."""
    bits = int(kind[1:])
    x, y = (random_bits(300, f"u{bits // 8}", s) for s in (3, 4))
    r = np.random.default_rng(0)
    position, length = (r.integers(0, bits + 8, 300).astype(np.int32) for _ in range(2))

    def extract(v, p, n):
        sign = 0 if kind[0] == "u" or n == 0 else v >> min(p + n - 1, bits - 1) & 1
        out = sum(((v >> p + i & 1) if i < n and p + i <= bits - 1 else sign) << i for i in range(bits))
        return out

    def insert(v, w, p, n):
        for i in range(n):
            if p + i <= bits - 1:
                w = w & ~(1 << p + i) | (v >> i & 1) << p + i
        return w

    dtype = f"{'i' if kind[0] == 's' else 'u'}{bits // 8}"
    got = meaning(("bfe", kind)).function(x.view(dtype), position, length)
    assert [bits_of(v, bits) for v in got] == [extract(int(v), int(p), int(n)) for v, p, n in zip(x, position, length)]
    got = meaning(("bfi", f"b{bits}")).function(x.view(f"i{bits // 8}"), y.view(f"i{bits // 8}"), position, length)
    assert [bits_of(v, bits) for v in got] == [insert(int(v), int(w), int(p), int(n))
                                               for v, w, p, n in zip(x, y, position, length)]


@pytest.mark.parametrize("bits", [32, 64])
def test_counting_bits(bits):
    dtype = f"u{bits // 8}"
    x = np.concatenate((random_bits(50, dtype), np.array([0, 1, 2**bits - 1, 2**(bits - 1)], dtype)))
    s = x.view(f"i{bits // 8}")
    assert meaning(("popc", f"b{bits}")).function(s).tolist() == [bin(int(v)).count("1") for v in x]
    assert meaning(("clz", f"b{bits}")).function(s).tolist() == [bits - int(v).bit_length() for v in x]
    assert [bits_of(v, bits) for v in meaning(("brev", f"b{bits}")).function(s)] == \
        [int(f"{int(v):0{bits}b}"[::-1], 2) for v in x]
    highest = [(int(v) if v >= 0 else ~int(v)).bit_length() - 1 for v in s]
    assert meaning(("bfind", f"s{bits}")).function(s).tolist() == highest
    assert meaning(("bfind", "shiftamt", f"u{bits}")).function(x).tolist() == \
        [bits - int(v).bit_length() if v else -1 for v in x]


def test_prmt_lop3_and_funnel_shifts():
    a, b, c = (random_bits(64, seed=s) for s in (5, 6, 7))
    ints = [v.view(np.int32) for v in (a, b, c)]
    got = meaning(("prmt", "b32")).function(ints[0], ints[1], ints[2]).view(np.uint32)

    def permuted(x, y, selector):
        data = int(x).to_bytes(4, "little") + int(y).to_bytes(4, "little")
        picks = [selector >> 4 * k & 15 for k in range(4)]
        signs = [255 if byte & 128 else 0 for byte in data]
        return int.from_bytes(bytes((signs if p & 8 else data)[p & 7] for p in picks), "little")
    assert got.tolist() == [permuted(x, y, int(s)) for x, y, s in zip(a, b, c)]
    for table in (0x80, 0xFE, 0x96, 0x1B):
        got = meaning(("lop3", "b32")).function(*ints, np.int32(table)).view(np.uint32)
        want = [sum((table >> ((int(x) >> i & 1) << 2 | (int(y) >> i & 1) << 1 | (int(z) >> i & 1)) & 1) << i
                    for i in range(32)) for x, y, z in zip(a, b, c)]
        assert got.tolist() == want
    for direction in "lr":
        for rule in ("wrap", "clamp"):
            got = meaning(("shf", direction, rule, "b32")).function(*ints).view(np.uint32).tolist()
            counts = [int(n) & 31 if rule == "wrap" else min(int(n), 32) for n in c]
            both = [int(y) << 32 | int(x) for x, y in zip(a, b)]
            shift = (lambda v, n: v << n >> 32) if direction == "l" else (lambda v, n: v >> n)
            assert got == [shift(v, n) % 2**32 for v, n in zip(both, counts)]


@pytest.mark.parametrize("opcode", ["add.cc.u32", "fma.rn.bf16x2", "wmma.load", "mul.f16", "cvt.rna.tf32.f32",
                                    "tex.2d.v4.f32", "mul.lo.f32", "add.rz.f64"])
def test_what_is_not_in_the_table_is_unsupported(opcode):
    with pytest.raises(Unsupported, match=opcode):
        meaning(tuple(opcode.split(".")))


# ---- random programs: C compiled to PTX and executed, against Python's integers -------------------------------------

class Expression:
    """A random C expression over int32 (or uint32) variables a, b, c, with its value by Python's integers."""

    def __init__(self, r, unsigned: bool, depth: int):
        self.r, self.unsigned = r, unsigned
        self.suffix = "u" if unsigned else ""
        self.text, self.value = self.make(depth)

    def wrap(self, x: int) -> int:
        x &= 0xFFFFFFFF
        return x if self.unsigned or x < 2**31 else x - 2**32

    def make(self, depth: int):
        if depth == 0:
            return self.leaf()
        (p, f), (q, g) = self.make(depth - 1), self.make(int(self.r.integers(0, depth)))
        wrap = self.wrap
        if not self.unsigned:    # signed overflow is undefined in C: go through unsigned
            add = lambda op: f"(int)((unsigned)({p}) {op} (unsigned)({q}))"    # noqa: E731
        else:
            add = lambda op: f"(({p}) {op} ({q}))"    # noqa: E731
        n = int(self.r.integers(1, 31))
        d = int(self.r.integers(1, 2000))
        quotient = lambda x, y: -(-x // y) if x < 0 else x // y    # noqa: E731
        choices = [
            (add("+"), lambda v: wrap(f(v) + g(v))), (add("-"), lambda v: wrap(f(v) - g(v))),
            (add("*"), lambda v: wrap(f(v) * g(v))),
            (f"(({p}) & ({q}))", lambda v: wrap(f(v) & g(v))), (f"(({p}) | ({q}))", lambda v: wrap(f(v) | g(v))),
            (f"(({p}) ^ ({q}))", lambda v: wrap(f(v) ^ g(v))), (f"(~({p}))", lambda v: wrap(~f(v))),
            (f"(({p}) >> {n})", lambda v: f(v) >> n),
            (f"(({p}) / {d}{self.suffix})", lambda v: quotient(f(v), d)),
            (f"(({p}) % {d}{self.suffix})", lambda v: f(v) - d * quotient(f(v), d)),
            (f"(({p}) < ({q}) ? ({p}) : ({q}))", lambda v: min(f(v), g(v))),
            (f"(({p}) == ({q}) ? ({q}) : ({p}) ^ {n}{self.suffix})",
             lambda v: g(v) if f(v) == g(v) else wrap(f(v) ^ n)),
            (f"max(({p}), ({q}))", lambda v: max(f(v), g(v))),
        ]
        return choices[self.r.integers(len(choices))]

    def leaf(self):
        k = int(self.r.integers(4))
        if k == 3:
            n = int(self.r.integers(0, 2**31))
            return f"{n}{self.suffix}", lambda v: n
        return "abc"[k], lambda v: v[k]


@pytest.mark.parametrize("kind, dtype", [("int", np.int32), ("unsigned", np.uint32)])
@pytest.mark.parametrize("seed", range(3))
def test_random_integer_programs(kind, dtype, seed):
    r = np.random.default_rng(seed)
    programs = [Expression(r, kind == "unsigned", int(r.integers(2, 5))) for _ in range(24)]
    lines = "\n".join(f"    R[{k} * 64 + i] = {p.text};" for k, p in enumerate(programs))
    source = f"""__global__ void k(const {kind} *A, const {kind} *B, const {kind} *C, {kind} *R) {{
        int i = threadIdx.x; {kind} a = A[i], b = B[i], c = C[i];\n{lines}\n}}"""
    values = [random_bits(64, seed=10 * seed + s).view(dtype) for s in range(3)]
    values[2] %= 100
    result = np.zeros((len(programs), 64), dtype)
    run = emulate(source, "k", 1, 64, (*values, result), mode="values")
    assert run.completed, run.findings
    for p, row in zip(programs, result):
        assert row.tolist() == [p.value(v) for v in zip(*(x.tolist() for x in values))], p.text
