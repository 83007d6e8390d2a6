"""Floating-point arithmetic for 32 lanes as the GPU does it: as `emulator.floats` for NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable

from gemm_lab.emulator.llvm.integers import intrinsic, where
from gemm_lab.emulator.llvm.values import Value, bits, element

NAN32 = 0x7FFFFFFF    # every NaN that float32 arithmetic makes
TINY32 = 2.0**-126    # the smallest normal float32


def is_nan(a: Value) -> Value:
    return a.compare("", "uno", a)


def canonical(a: Value) -> Value:
    """float32 with every NaN replaced by the GPU's."""
    return where(is_nan(a), a.f.constant("s32", NAN32, a.lanes).seen_as("f32"), a) if a.kind == "f32" else a


def approximately(function: Callable) -> Callable:
    """The GPU's fast versions: computed in float64 and rounded."""
    return lambda *sources: function(*(a.cast("fpext", "f64") for a in sources)).cast("fptrunc", "f32")


def square_root(a: Value) -> Value:
    return intrinsic("sqrt")(a)


def flush(a: Value) -> Value:
    """Subnormal float32 become zeros of the same sign (modifier .ftz)."""
    return where(intrinsic("fabs")(a) < TINY32, intrinsic("copysign")(a.like(0.0), a), a)


def saturate(a: Value) -> Value:
    """Into [0, 1]; NaN becomes 0 (modifier .sat)."""
    return where(a > 0.0, where(a > 1.0, 1.0, a), 0.0)


def whole_number(a: Value, to: str) -> Value:
    """A whole float as an integer, cut off at the limits; NaN as the manual says (PTX ISA, cvt, integer notes)."""
    kind = element(to)
    name = f"llvm.fpto{'s' if to[0] == 's' else 'u'}i.sat.v32{kind}.v32{a.kind}"
    a.f.declare(name, f"<32 x {kind}>", a.type)
    result = a.f.call(name, a, result=to, lanes=32)
    if a.kind == "f32" and bits(to) < 64:
        return result
    return where(is_nan(a), -2**(bits(to) - 1), result)
