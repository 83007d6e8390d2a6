"""Integer and bit arithmetic for 32 lanes, where the GPU differs from LLVM: as `emulator.integers` for NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable

from gemm_lab.emulator.llvm.values import Value, bits


def where(condition: Value, a, b) -> Value:
    if not isinstance(a, Value):
        a = b.like(a)
    return condition.f.select(condition, a, b)


def intrinsic(name: str, flag: bool | None = None) -> Callable:
    """A function that is one of LLVM's intrinsics."""
    return lambda *sources: sources[0].f.intrinsic(name, *sources, flag=flag)


def unsigned(a: Value) -> Value:
    return a.seen_as("u" + a.kind[1:])


def least(a: Value, b) -> Value:
    return a.f.intrinsic("smin" if a.signed else "umin", a, a.like(b))


def largest(a: Value, b) -> Value:
    return a.f.intrinsic("smax" if a.signed else "umax", a, a.like(b))


def wider(a: Value) -> Value:
    return a.to(a.kind[0] + str(2 * bits(a.kind)))


def negative(a: Value) -> Value:
    return a.seen_as("s" + a.kind[1:]) < 0


def divide(a: Value, b: Value) -> Value:
    """A division by 0 gives all ones; -2^31 / -1 must not trap."""
    easy = (b == 0) | (b == -1) if a.signed else b == 0
    quotient = a / where(easy, 1, b)
    if a.signed:
        quotient = where(b == -1, -a, quotient)
    return where(b == 0, -1, quotient)


def remainder(a: Value, b: Value) -> Value:
    return where(b == 0, a, a - divide(a, b) * b)


def multiply_high(a: Value, b: Value) -> Value:
    return (wider(a) * wider(b) >> bits(a.kind)).to(a.kind)


def low24(a: Value) -> Value:
    return (a << 8) >> 8


def clamp(a: Value, kind: str) -> Value:
    """The nearest number that another integer kind holds."""
    def limits(k):
        return (-2**(bits(k) - 1), 2**(bits(k) - 1) - 1) if k[0] == "s" else (0, 2**bits(k) - 1)
    (low, high), (own_low, own_high) = limits(kind), limits(a.kind)
    return least(largest(a, max(low, own_low)), min(high, own_high)).to(kind)


def shifted(a: Value, count: Value, how: Callable) -> Value:
    """how(a, count), but 0 for counts beyond the width, for which LLVM's shifts are undefined."""
    count = unsigned(count)
    safe = least(count, bits(a.kind) - 1).to("u" + a.kind[1:]).seen_as(a.kind)
    return where(count < bits(a.kind), how(a, safe), 0)


def shift_left(a: Value, count: Value) -> Value:
    return shifted(a, count, lambda a, n: a << n)


def shift_right(a: Value, count: Value) -> Value:
    if a.signed:
        return a >> least(unsigned(count), bits(a.kind) - 1).to("u" + a.kind[1:]).seen_as(a.kind)
    return shifted(a, count, lambda a, n: a >> n)


def funnel_clamp(left: bool) -> Callable:
    def shift(low: Value, high: Value, count: Value) -> Value:
        count = least(unsigned(count), 32).to("u64")
        both = (unsigned(high).to("u64") << 32) | unsigned(low).to("u64")
        return ((both << count) >> 32 if left else both >> count).to("b32")
    return shift


def count_bits(name: str, flag: bool | None = None) -> Callable:
    """popc and clz: the result has 32 bits, whatever the source has."""
    return lambda a: unsigned(intrinsic(name, flag)(a)).to("s32")


def find_highest(as_shift: bool) -> Callable:
    def find(a: Value) -> Value:
        bits_ = where(negative(a), ~a, a) if a.signed else a
        zeros = unsigned(intrinsic("ctlz", False)(bits_)).to("s32")
        return where(bits_ == 0, -1, zeros if as_shift else zeros.like(bits(a.kind) - 1) - zeros)
    return find


def low_mask(a: Value, length: Value) -> Value:
    """The lowest `length` bits set, in the type of a; at most all of them."""
    return ~shift_left(a.like(-1), length)


def insert_field(a: Value, b: Value, position: Value, length: Value) -> Value:
    position, length = position & 255, length & 255
    mask = shift_left(low_mask(a, length), position)
    return (shift_left(a, position) & mask) | (b & ~mask)


def extract_field(a: Value, position: Value, length: Value) -> Value:
    u, position, length = unsigned(a), unsigned(position) & 255, unsigned(length) & 255
    mask = low_mask(u, length)
    field = shift_right(u, position) & mask
    if not a.signed:
        return field
    sign_at = least(position + largest(length, 1) - 1, bits(a.kind) - 1)
    is_negative = ((shift_right(u, sign_at) & 1) != 0) & (length > 0)
    real = mask & shift_right(u.like(-1), position)    # bits that come from a; above them the sign is repeated
    return where(is_negative, field | ~real, field).seen_as(a.kind)


def permute_bytes(a: Value, b: Value, selector: Value) -> Value:
    both, result = (unsigned(b).to("u64") << 32) | unsigned(a).to("u64"), a.like(0)
    for k in range(4):
        pick = unsigned(selector) >> 4 * k
        byte = ((both >> ((pick & 7) << 3).to("u64")) & 255).to("u32")
        sign = where((byte & 128) != 0, byte.like(255), 0)
        result = result | (where((pick & 8) != 0, sign, byte) << 8 * k)
    return result
