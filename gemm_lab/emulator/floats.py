"""Floating-point arithmetic as the GPU does it, on NumPy arrays with one entry for each thread.

Float32 add, subtract, multiply, divide and square root are IEEE 754 in NumPy already. What NumPy lacks is written here:
the fused multiply-add, rounding in a chosen direction, the GPU's one NaN, and conversions to integers.

All functions take arrays or NumPy scalars (a register that is the same in all threads is a scalar).
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np

from gemm_lab.emulator.integers import signed

F32, F64, I64, U32 = np.float32, np.float64, np.int64, np.uint32
NAN32 = U32(0x7FFFFFFF).view(F32)    # every NaN that float32 arithmetic makes (PTX ISA, "Floating Point")
TINY32 = F32(2.0**-126)              # the smallest normal float32

# A float64 has 29 bits more than a float32. It is a tie between two float32 if those 29 bits are exactly one half.
_BELOW_FLOAT32, _HALF = I64(0x1FFFFFFF), I64(0x10000000)


# ---- float32 --------------------------------------------------------------------------------------------------------

def fma32(a, b, c):
    """a*b + c with one rounding, to nearest.

    The product of two float32 is exact in float64, so the sum s is rounded once to float64, and again to float32. The
    second rounding can go wrong only where s looks like a tie between two float32 and the true sum is none: there the
    sum is first rounded to odd (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008), which
    keeps the information on which side of the tie it lies.
    """
    s = np.multiply(a, b, dtype=F64)
    s += c
    result = s.astype(F32)
    unusual = any_unusual(result)
    if ((s.view(I64) & _BELOW_FLOAT32) == _HALF).any() or unusual and any_subnormal(result):
        result = odd_sum(exact_product(a, b), c).astype(F32)
    return canonical(result) if unusual else result


def canonical(x):
    """float32 with every NaN replaced by the GPU's. The maximum of an array is NaN exactly if the array holds one."""
    if x.ndim == 0:
        return NAN32 if x != x else x
    return np.where(np.isnan(x), NAN32, x) if np.isnan(x.max()) else x


def any_unusual(x) -> bool:
    """Whether some float32 is zero, subnormal, infinite or NaN: its exponent bits are all zeros or all ones."""
    return ((x.view(U32) + U32(1 << 23)) & U32(0x7FFFFFFF)).min() < U32(1 << 24)


def any_subnormal(x) -> bool:
    """Whether some float32 lies between 0 and the smallest normal number: it has fewer bits, so its ties differ."""
    return (x.view(U32) * U32(2) - U32(1)).min() < U32(2**24 - 1)    # * 2 drops the sign; - 1 sends 0 to the top


def exact_product(a, b):
    """The product of two float32, as a float64."""
    return np.multiply(a, b, dtype=F64)


def odd_sum(a, b):
    """a + b in float64, rounded to odd: cut off, and the last bit set if that lost anything. Keeps inf and NaN."""
    a, b = np.asarray(a, F64), np.asarray(b, F64)
    s = np.array(a + b)
    error = sum_error(a, b, s)
    bits = s.view(I64)
    step = np.where((error > 0) == (s > 0), 1, -1)    # away from 0 if the true sum is farther from 0 than s
    bits += np.where(np.isfinite(s) & (error != 0) & ((bits & 1) == 0), step, 0)
    return s


def sum_error(a, b, s):
    """Exactly a + b - s, for s = a + b rounded to nearest (Knuth's TwoSum)."""
    t = s - a
    return (a - (s - t)) + (b - t)


def directed(exact, mode: str):
    """A float64, exact or rounded to odd, as float32: towards 0 ("rz"), down ("rm") or up ("rp")."""
    exact = np.asarray(exact, F64)
    near = exact.astype(F32)
    lower = np.where(near > exact, np.nextafter(near, F32(-inf)), near)
    upper = np.where(near < exact, np.nextafter(near, F32(inf)), near)
    return {"rm": lower, "rp": upper, "rz": np.where(exact < 0, upper, lower)}[mode]


_NEAREST = {
    "add": lambda a, b: canonical(a + b), "sub": lambda a, b: canonical(a - b), "mul": lambda a, b: canonical(a * b),
    "fma": fma32, "div": lambda a, b: canonical(a / b), "rcp": lambda a: canonical(F32(1) / a),
    "sqrt": lambda a: canonical(np.sqrt(a)),
}
_EXACT = {    # a quotient or root of float32 that is not itself a float32 is never so near to one that float64 errs
    "add": odd_sum, "sub": lambda a, b: odd_sum(a, -b), "mul": exact_product,
    "fma": lambda a, b, c: odd_sum(exact_product(a, b), c), "div": lambda a, b: np.divide(a, b, dtype=F64),
    "rcp": lambda a: np.divide(1, a, dtype=F64), "sqrt": lambda a: np.sqrt(a, dtype=F64),
}


def float32_op(name: str, mode: str):
    """A float32 operation of the tables above in a rounding mode: to nearest ("rn"), or as `directed`."""
    if mode == "rn":
        return _NEAREST[name]
    return lambda *sources: canonical(directed(_EXACT[name](*sources), mode))


def flush(x):
    """Subnormal float32 become zeros of the same sign (modifier .ftz)."""
    return np.where(np.abs(x) < TINY32, np.copysign(F32(0), x), x)


def saturate(x):
    """Into [0, 1]; NaN becomes 0 (modifier .sat)."""
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))


def minimum(a, b):
    """The smaller number; a NaN loses against a number, and -0 is below +0."""
    zeros = signed(a) | signed(b)    # equal numbers have equal bits, except zeros
    return np.where(a == b, zeros.view(a.dtype), np.fmin(a, b))


def maximum(a, b):
    """The larger number; a NaN loses against a number, and +0 is above -0."""
    zeros = signed(a) & signed(b)
    return np.where(a == b, zeros.view(a.dtype), np.fmax(a, b))


# ---- float64 --------------------------------------------------------------------------------------------------------

def fma64(a, b, c):
    """a*b + c in float64 with one rounding (Boldo and Melquiond 2008), by exact fractions where steps of that method
    might over- or underflow."""
    a, b, c = np.broadcast_arrays(np.asarray(a, F64), np.asarray(b, F64), np.asarray(c, F64))
    high = a * b
    low = product_error(a, b, high)
    t = c + low
    s = high + t
    result = s + odd_sum(sum_error(c, low, t), sum_error(high, t, s))
    plain = high + c    # right for inf, NaN and the sign of a zero
    result = np.where(np.isfinite(result) & (result != 0), result, plain)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for i in map(tuple, np.argwhere(finite & ~(_moderate(a) & _moderate(b) & _moderate(c)))):
        result[i] = _fma_by_fractions(float(a[i]), float(b[i]), float(c[i]))
    return result[()]


def _moderate(x):
    return (x == 0) | (np.abs(x) > 2.0**-400) & (np.abs(x) < 2.0**400)


def _fma_by_fractions(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c    # keeps the sign of zero
    try:
        return float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf


def product_error(a, b, product):
    """Exactly a*b - product, for float64 products that neither over- nor underflow (Dekker)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x):
    t = x * F64(2**27 + 1)    # Veltkamp's splitting
    high = t - (t - x)
    return high, x - high


# ---- conversions ----------------------------------------------------------------------------------------------------

_TO_WHOLE = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def whole(x, mode: str):
    """A float rounded to a whole number: to nearest even ("rni"), towards 0 ("rzi"), down ("rmi") or up ("rpi")."""
    return _TO_WHOLE[mode](x)


def float_to_int(x, mode: str, dtype):
    """Rounded, then cut off at the limits of the integer type; NaN as the manual says (PTX ISA, cvt, integer notes)."""
    dtype = np.dtype(dtype)
    limits = np.iinfo(dtype)
    value = whole(x.astype(F64), mode)
    low, above = F64(limits.min), F64(limits.max + 1)    # exact: powers of two, or 0
    inside = np.where((value >= low) & (value < above), value, 0).astype(dtype)
    result = np.where(value >= above, dtype.type(limits.max), np.where(value < low, dtype.type(limits.min), inside))
    nan = 0 if x.dtype != F64 and dtype.itemsize < 8 else limits.min or (limits.max >> 1) + 1
    return np.where(np.isnan(x), dtype.type(nan), result)
