"""Integer and bit arithmetic where the GPU differs from NumPy, on arrays with one entry for each thread.

Divisions truncate, shift counts are clamped, products have high halves, and there are instructions for bit fields,
bytes and truth tables (PTX ISA, "Integer Arithmetic Instructions" and "Logic and Shift Instructions").
"""

from __future__ import annotations

import numpy as np

I32, U32, U64 = np.int32, np.uint32, np.uint64
_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def unsigned(x):
    """The same bits as an unsigned integer."""
    return x.view(_UNSIGNED[x.dtype.itemsize])


def signed(x):
    """The same bits as a signed integer."""
    return x.view(_SIGNED[x.dtype.itemsize])


def bits_of(x) -> int:
    """The width of the type."""
    return 8 * x.dtype.itemsize


# ---- arithmetic -----------------------------------------------------------------------------------------------------

def divide(a, b):
    """Quotient cut off towards 0, as in C; a division by 0 gives all ones."""
    quotient = a // b
    if a.dtype.kind == "i":
        quotient = quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))
    return np.where(b == 0, ~a.dtype.type(0), quotient).astype(a.dtype)


def remainder(a, b):
    """a - b * divide(a, b): it has the sign of a."""
    return np.where(b == 0, a, a - divide(a, b) * b).astype(a.dtype)


def wider(x):
    """The same numbers in twice as many bits."""
    return x.astype(f"{x.dtype.kind}{2 * x.dtype.itemsize}")


def multiply_high(a, b):
    """The upper half of the double-width product."""
    if bits_of(a) == 64:
        return _multiply_high_64(a, b)
    product = wider(a) * wider(b)
    return (product >> product.dtype.type(bits_of(a))).astype(a.dtype)


def _multiply_high_64(a, b):
    """By halves, as on paper."""
    mask, shift = U64(0xFFFFFFFF), U64(32)
    ua, ub = unsigned(a), unsigned(b)
    a0, a1, b0, b1 = ua & mask, ua >> shift, ub & mask, ub >> shift
    middle = a1 * b0 + (a0 * b0 >> shift)
    high = a1 * b1 + (middle >> shift) + ((a0 * b1 + (middle & mask)) >> shift)
    if a.dtype.kind == "i":    # as unsigned, a negative factor counts 2^64 too much
        high = high - np.where(a < 0, ub, U64(0)) - np.where(b < 0, ua, U64(0))
    return high.view(a.dtype)


def low24(x):
    """The lowest 24 bits as a number, signed if x is signed (mul24)."""
    return (x << x.dtype.type(8)) >> x.dtype.type(8)


def clamp(x, dtype):
    """The nearest number that another integer type holds (modifier .sat)."""
    limits, own = np.iinfo(dtype), np.iinfo(x.dtype)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(dtype)


# ---- shifts ---------------------------------------------------------------------------------------------------------

def shift_left(a, count):
    """Counts beyond the width give 0."""
    count = unsigned(count)
    if count.ndim == 0:
        return a << a.dtype.type(count) if count < bits_of(a) else a & a.dtype.type(0)
    return np.where(count < bits_of(a), a << (count & U32(bits_of(a) - 1)).astype(a.dtype), a.dtype.type(0))


def shift_right(a, count):
    """Arithmetic for signed, logical for unsigned numbers; counts beyond the width leave only signs, or 0."""
    count = unsigned(count)
    shifted = a >> np.minimum(count, U32(bits_of(a) - 1)).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(count < bits_of(a), shifted, a.dtype.type(0))


def funnel_shift(left: bool, clamps: bool):
    """shf.l, shf.r: the 64 bits (high, low) shifted, of which 32 remain; counts are clamped to 32, or taken modulo
    32."""
    def shift(low, high, count):
        count = unsigned(count)
        count = (np.minimum(count, U32(32)) if clamps else count & U32(31)).astype(U64)
        both = (unsigned(high).astype(U64) << U64(32)) | unsigned(low).astype(U64)
        both = (both << count) >> U64(32) if left else both >> count
        return both.astype(U32).view(low.dtype)
    return shift


# ---- bits -----------------------------------------------------------------------------------------------------------

def bit_length(x):
    """Number of bits up to the highest 1; 0 for 0. `x` is unsigned, of at most 64 bits."""
    x = x.astype(U64)
    high, low = (x >> U64(32)).astype(float), (x & U64(0xFFFFFFFF)).astype(float)
    return np.where(high > 0, np.frexp(high)[1] + 32, np.frexp(low)[1]).astype(I32)


def leading_zeros(x):
    """clz."""
    return I32(bits_of(x)) - bit_length(unsigned(x))


def ones(x):
    """popc."""
    return np.bitwise_count(unsigned(x)).astype(I32)


def find_highest(x, as_shift: bool = False):
    """bfind: position of the highest bit that differs from the sign, or its distance from the top; -1 if none does."""
    length = bit_length(unsigned(np.where(x < 0, ~x, x)))
    position = I32(bits_of(x)) - length if as_shift else length - I32(1)
    return np.where(length == 0, I32(-1), position)


def reverse_bits(x):
    """brev: swap neighbouring bits, then neighbouring pairs, and so on."""
    u = unsigned(x)
    step = 1
    while step < bits_of(x):
        mask = u.dtype.type(sum(((1 << step) - 1) << k for k in range(0, bits_of(x), 2 * step)))
        s = u.dtype.type(step)
        u = ((u >> s) & mask) | ((u & mask) << s)
        step *= 2
    return u.view(x.dtype)


def _low_mask(length, dtype):
    """Unsigned numbers with the lowest `length` bits set; at most all of them."""
    bits = 8 * dtype.itemsize
    mask = (dtype.type(1) << np.minimum(length, bits - 1).astype(dtype)) - dtype.type(1)
    return np.where(length >= bits, dtype.type(2**bits - 1), mask)


def extract_field(a, position, length):
    """bfe: `length` bits of a from `position` on, extended by their highest bit if a is signed."""
    u, position, length = unsigned(a), unsigned(position) & U32(255), unsigned(length) & U32(255)
    mask = _low_mask(length, u.dtype)
    field = shift_right(u, position) & mask
    if a.dtype.kind == "u":
        return field
    sign_at = np.minimum(position + np.maximum(length, U32(1)) - U32(1), U32(bits_of(a) - 1))
    negative = (shift_right(u, sign_at) & u.dtype.type(1) != 0) & (length > 0)
    real = mask & shift_right(u | ~u, position)    # bits that come from a; above them the sign is repeated
    return np.where(negative, field | ~real, field).view(a.dtype)


def insert_field(a, b, position, length):
    """bfi: b with `length` bits from `position` on replaced by the lowest bits of a."""
    ua, ub, position = unsigned(a), unsigned(b), unsigned(position) & U32(255)
    mask = shift_left(_low_mask(unsigned(length) & U32(255), ua.dtype), position)
    return ((shift_left(ua, position) & mask) | (ub & ~mask)).view(a.dtype)


def permute_bytes(a, b, selector):
    """prmt: each byte of the result is one of the 8 bytes of (b, a), or the sign of that byte eight times."""
    both = (unsigned(b).astype(U64) << U64(32)) | unsigned(a).astype(U64)
    selector, result = unsigned(selector), U32(0)
    for k in range(4):
        pick = (selector >> U32(4 * k)) & U32(15)
        byte = ((both >> ((pick & U32(7)) * U32(8)).astype(U64)) & U64(255)).astype(U32)
        sign = np.where(byte & U32(128) != 0, U32(255), U32(0))
        result = result | (np.where(pick & U32(8) != 0, sign, byte) << U32(8 * k))
    return result.view(a.dtype)


def logic3(a, b, c, table):
    """lop3: any function of three bits, given by its 8-bit truth table."""
    result = a & a.dtype.type(0)
    for row in range(8):
        if int(table) >> row & 1:
            result = result | ((a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c))
    return result
