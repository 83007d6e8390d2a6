"""The instruction set: one table from a PTX instruction to the NumPy expression that computes it.

A row gives the types of the result and of the sources, and the function. The letters stand for types:

    t  the type in the instruction        b  the bits of a register of that size, whatever they mean
    w  the type twice as wide             p  predicate (true or false)           i  a 32-bit integer

What is not in the table is "unsupported", never a guess. Loads, stores, barriers and what passes between the threads of
a warp are not arithmetic: see `memory_steps` and `warp_steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gemm_lab.emulator import floats, integers
from gemm_lab.emulator.integers import wider
from gemm_lab.emulator.ptx import Unsupported

TYPES = {
    "pred": np.bool_, "s8": np.int8, "u8": np.uint8, "b8": np.int8, "s16": np.int16, "u16": np.uint16, "b16": np.int16,
    "s32": np.int32, "u32": np.uint32, "b32": np.int32, "s64": np.int64, "u64": np.uint64, "b64": np.int64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}
ROUNDINGS = ("rn", "rz", "rm", "rp")           # to nearest even, towards 0, down, up
TO_WHOLE = ("rni", "rzi", "rmi", "rpi")        # the same, to a whole number


@dataclass(frozen=True)
class Meaning:
    """What an instruction computes: result = function(*sources), with their PTX types."""
    result: str
    sources: tuple[str, ...]
    function: Callable


# ---- the table ------------------------------------------------------------------------------------------------------

INTEGER = {
    "add":            ("b b b",     lambda a, b: a + b),
    "sub":            ("b b b",     lambda a, b: a - b),
    "add.sat":        ("t t t",     lambda a, b: integers.clamp(wider(a) + wider(b), a.dtype)),
    "sub.sat":        ("t t t",     lambda a, b: integers.clamp(wider(a) - wider(b), a.dtype)),
    "mul.lo":         ("b b b",     lambda a, b: a * b),
    "mul.hi":         ("t t t",     integers.multiply_high),
    "mul.wide":       ("w t t",     lambda a, b: wider(a) * wider(b)),
    "mad.lo":         ("b b b b",   lambda a, b, c: a * b + c),
    "mad.hi":         ("t t t t",   lambda a, b, c: integers.multiply_high(a, b) + c),
    "mad.wide":       ("w t t w",   lambda a, b, c: wider(a) * wider(b) + c),
    "mul24.lo":       ("t t t",     lambda a, b: integers.low24(a) * integers.low24(b)),
    "mad24.lo":       ("t t t t",   lambda a, b, c: integers.low24(a) * integers.low24(b) + c),
    "sad":            ("t t t t",   lambda a, b, c: c + np.where(a < b, b - a, a - b)),
    "div":            ("t t t",     integers.divide),
    "rem":            ("t t t",     integers.remainder),
    "abs":            ("t t",       np.abs),
    "neg":            ("b b",       lambda a: -a),
    "min":            ("t t t",     np.minimum),
    "max":            ("t t t",     np.maximum),
    "and":            ("b b b",     lambda a, b: a & b),
    "or":             ("b b b",     lambda a, b: a | b),
    "xor":            ("b b b",     lambda a, b: a ^ b),
    "not":            ("b b",       lambda a: ~a),
    "cnot":           ("b b",       lambda a: (a == 0).astype(a.dtype)),
    "lop3":           ("b b b b i", integers.logic3),
    "shl":            ("b b i",     integers.shift_left),
    "shr":            ("t t i",     integers.shift_right),
    "shf.l.wrap":     ("b b b i",   integers.funnel_shift(left=True, clamps=False)),
    "shf.l.clamp":    ("b b b i",   integers.funnel_shift(left=True, clamps=True)),
    "shf.r.wrap":     ("b b b i",   integers.funnel_shift(left=False, clamps=False)),
    "shf.r.clamp":    ("b b b i",   integers.funnel_shift(left=False, clamps=True)),
    "popc":           ("i b",       integers.ones),
    "clz":            ("i b",       integers.leading_zeros),
    "bfind":          ("i t",       integers.find_highest),
    "bfind.shiftamt": ("i t",       lambda a: integers.find_highest(a, as_shift=True)),
    "brev":           ("b b",       integers.reverse_bits),
    "bfe":            ("t t i i",   integers.extract_field),
    "bfi":            ("b b b i i", integers.insert_field),
    "prmt":           ("b b b b",   integers.permute_bytes),
}

PREDICATE = {
    "mov":            ("p p",       lambda a: a),
    "and":            ("p p p",     lambda a, b: a & b),
    "or":             ("p p p",     lambda a, b: a | b),
    "xor":            ("p p p",     lambda a, b: a ^ b),
    "not":            ("p p",       lambda a: ~a),
}

ANY = {    # integers and floats alike
    "mov":            ("b b",       lambda a: a),
    "selp":           ("b b b p",   lambda a, b, p: np.where(p, a, b)),
}

FLOAT = {    # exact
    "abs":            ("t t",       np.abs),
    "neg":            ("t t",       lambda a: -a),
    "min":            ("t t t",     floats.minimum),
    "max":            ("t t t",     floats.maximum),
    "min.NaN":        ("t t t",     np.minimum),
    "max.NaN":        ("t t t",     np.maximum),
    "copysign":       ("t t t",     lambda a, b: np.copysign(b, a)),
    "testp.finite":   ("p t",       np.isfinite),
    "testp.infinite": ("p t",       np.isinf),
    "testp.number":   ("p t",       lambda a: ~np.isnan(a)),
    "testp.notanumber": ("p t",     np.isnan),
}

ROUNDED = {    # rounded once, in any direction for float32 (`floats.float32_op`), to nearest for float64
    "add":            ("t t t",     lambda a, b: a + b),
    "sub":            ("t t t",     lambda a, b: a - b),
    "mul":            ("t t t",     lambda a, b: a * b),
    "fma":            ("t t t t",   floats.fma64),
    "mad":            ("t t t t",   floats.fma64),
    "div":            ("t t t",     lambda a, b: a / b),
    "rcp":            ("t t",       lambda a: 1 / a),
    "sqrt":           ("t t",       np.sqrt),
}

APPROXIMATE = {    # the GPU's fast versions; here computed in float64 and rounded, so they may differ in the last bits
    "rcp.approx":     ("t t",       lambda a: 1 / a),
    "div.approx":     ("t t t",     lambda a, b: a / b),
    "div.full":       ("t t t",     lambda a, b: a / b),
    "sqrt.approx":    ("t t",       np.sqrt),
    "rsqrt.approx":   ("t t",       lambda a: 1 / np.sqrt(a)),
    "ex2.approx":     ("t t",       np.exp2),
    "lg2.approx":     ("t t",       np.log2),
    "sin.approx":     ("t t",       np.sin),
    "cos.approx":     ("t t",       np.cos),
    "tanh.approx":    ("t t",       np.tanh),
}

COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}
COMPARE_FLOAT = {    # false where one is NaN; the second group: true there
    "eq": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "ne": lambda a, b: (a < b) | (a > b), "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "equ": lambda a, b: ~((a < b) | (a > b)), "ltu": lambda a, b: ~(a >= b), "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b), "geu": lambda a, b: ~(a < b), "neu": np.not_equal,
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
COMBINE = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


# ---- looking an instruction up --------------------------------------------------------------------------------------

def meaning(opcode: tuple[str, ...]) -> Meaning:
    """The meaning of an arithmetic instruction; raises Unsupported."""
    name = opcode[0]
    types = [part for part in opcode[1:] if part in TYPES]
    modifiers = [part for part in opcode[1:] if part not in TYPES]
    if not types:
        raise unknown(opcode)
    if name in ("setp", "set"):
        return _comparison(opcode, modifiers, types)
    if name == "cvt" and len(types) == 2:
        return _conversion(opcode, modifiers, *types)
    if name == "slct" and len(types) == 2:
        return Meaning(types[0], (types[0], types[0], types[1]), lambda a, b, c: np.where(c >= 0, a, b))
    kind = types[-1]
    if kind in ("f32", "f64") and name not in ANY:
        return _float(opcode, modifiers, kind)
    if name == "shr" and kind[0] == "b":    # fills with zeros
        kind = "u" + kind[1:]
    table = PREDICATE if kind == "pred" else ANY if kind == "f16" else INTEGER | ANY
    return _row(table, ".".join((name, *modifiers)), kind, opcode)


def unknown(opcode: tuple[str, ...]) -> Unsupported:
    return Unsupported(f"the instruction {'.'.join(opcode)}")


def _row(table, key: str, kind: str, opcode) -> Meaning:
    """The row `key`, its letters replaced by types."""
    if key not in table:
        raise unknown(opcode)
    letters, function = table[key]
    result, *sources = (_type(letter, kind) for letter in letters.split())
    return Meaning(result, tuple(sources), function)


def _type(letter: str, kind: str) -> str:
    if letter == "w":
        return kind[0] + str(2 * int(kind[1:]))
    return {"t": kind, "p": "pred", "i": "s32", "b": kind if kind[0] == "f" else "b" + kind[1:]}[letter]


def _float(opcode, modifiers: list[str], kind: str) -> Meaning:
    """Floats have modifiers of their own: a rounding, .ftz (subnormals are zeros), .sat (results lie in [0, 1])."""
    rounding = next((m for m in modifiers if m in ROUNDINGS), "rn")
    key = ".".join((opcode[0], *(m for m in modifiers if m not in (*ROUNDINGS, "ftz", "sat"))))
    if key in ROUNDED:
        found = _row(ROUNDED, key, kind, opcode)
        found = Meaning(found.result, found.sources, _rounded(found.function, key, rounding, kind, opcode))
    elif key in APPROXIMATE:
        found = _row(APPROXIMATE, key, kind, opcode)
        found = Meaning(found.result, found.sources, _approximately(found.function, kind))
    else:
        found = _row(FLOAT, key, kind, opcode)
        if key[:3] in ("min", "max") and kind == "f32":
            found = Meaning(found.result, found.sources, _then(found.function, floats.canonical))
    return _modified(found, modifiers)


def _rounded(function: Callable, name: str, rounding: str, kind: str, opcode) -> Callable:
    if kind == "f32":
        return floats.float32_op({"mad": "fma"}.get(name, name), rounding)
    if rounding != "rn":
        raise unknown(opcode)
    return function


def _approximately(function: Callable, kind: str) -> Callable:
    if kind == "f64":
        return function
    return lambda *xs: floats.canonical(function(*(x.astype(np.float64) for x in xs)).astype(np.float32))


def _then(first: Callable, second: Callable) -> Callable:
    return lambda *sources: second(first(*sources))


def _modified(found: Meaning, modifiers) -> Meaning:
    """The meaning with .ftz and .sat applied."""
    function = found.function
    if "ftz" in modifiers:
        function = _flushed(function, found.result == "f32")
    if "sat" in modifiers:
        function = _then(function, floats.saturate)
    return Meaning(found.result, found.sources, function)


def _flushed(function: Callable, result: bool) -> Callable:
    if result:
        return lambda *sources: floats.flush(function(*map(floats.flush, sources)))
    return lambda *sources: function(*map(floats.flush, sources))


def _comparison(opcode, modifiers: list[str], types: list[str]) -> Meaning:
    """setp gives a predicate, set all ones or 1.0; both may combine it with another predicate."""
    kind = types[-1]
    table = COMPARE_FLOAT if kind[0] == "f" else COMPARE
    names = [m for m in modifiers if m in table]
    combine = [m for m in modifiers if m in COMBINE]
    if len(names) != 1 or len(combine) > 1 or len(modifiers) != 1 + len(combine) + ("ftz" in modifiers):
        raise unknown(opcode)
    function, sources = table[names[0]], (kind, kind)
    if "ftz" in modifiers:
        function = _flushed(function, result=False)
    if combine:
        function, sources = _combined(function, COMBINE[combine[0]]), (kind, kind, "pred")
    if opcode[0] == "setp":
        return Meaning("pred", sources, function)
    yes = np.float32(1) if types[0] == "f32" else ~TYPES[types[0]](0)
    return Meaning(types[0], sources, _then(function, lambda p: np.where(p, yes, yes.dtype.type(0))))


def _combined(compare: Callable, join: Callable) -> Callable:
    return lambda a, b, p: join(compare(a, b), p)


def opposite(opcode: tuple[str, ...]) -> Callable:
    """The second result of setp p|q: the same with the comparison inverted."""
    inverse = _then(meaning(tuple(part for part in opcode if part not in COMBINE)).function, np.logical_not)
    join = next((COMBINE[part] for part in opcode if part in COMBINE), None)
    return _combined(inverse, join) if join else inverse


def _conversion(opcode, modifiers: list[str], to: str, source: str) -> Meaning:
    mode = next((m for m in modifiers if m in ROUNDINGS + TO_WHOLE), None)
    function = _convert(to, source, mode, "sat" in modifiers)
    if function is None or any(m not in (mode, "ftz", "sat") for m in modifiers):
        raise unknown(opcode)
    kept = [m for m in modifiers if m == "ftz" and source == "f32" or m == "sat" and to[0] == "f"]
    return _modified(Meaning(to, (source,), function), kept)


def _convert(to: str, source: str, mode: str | None, sat: bool) -> Callable | None:
    target = TYPES[to]
    if to[0] != "f" and source[0] == "f":
        return (lambda a: floats.float_to_int(a, mode, target)) if mode in TO_WHOLE else None
    if to[0] != "f":
        return (lambda a: integers.clamp(a, target)) if sat else (lambda a: a.astype(target))
    if mode in TO_WHOLE:
        return lambda a: floats.whole(a, mode).astype(target)
    if mode in (None, "rn") or to == "f64":
        return (lambda a: floats.canonical(a.astype(target))) if to == "f32" else (lambda a: a.astype(target))
    if to == "f32" and source not in ("s64", "u64"):
        return lambda a: floats.directed(a.astype(np.float64), mode)
    return None
