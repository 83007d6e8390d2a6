"""The instruction set once more: one table from a PTX instruction to the expression that computes it for 32 lanes.

`gemm_lab.emulator.instructions` says the same for NumPy arrays, and gives the types of the operands. The expressions
here are evaluated once, on values that write machine code. What is not in the tables is left to the NumPy back end.
"""

from __future__ import annotations

from collections.abc import Callable

from gemm_lab.emulator.instructions import ROUNDINGS, TO_WHOLE, TYPES
from gemm_lab.emulator.llvm.floats import (
    approximately,
    canonical,
    flush,
    is_nan,
    saturate,
    square_root,
    whole_number,
)
from gemm_lab.emulator.llvm.integers import (
    clamp,
    count_bits,
    divide,
    extract_field,
    find_highest,
    funnel_clamp,
    insert_field,
    intrinsic,
    largest,
    least,
    low24,
    multiply_high,
    permute_bytes,
    remainder,
    shift_left,
    shift_right,
    where,
    wider,
)
from gemm_lab.emulator.llvm.values import bits
from gemm_lab.emulator.ptx import Unsupported

INTEGER = {
    "add":            lambda a, b: a + b,
    "sub":            lambda a, b: a - b,
    "add.sat":        lambda a, b: clamp(wider(a) + wider(b), a.kind),
    "sub.sat":        lambda a, b: clamp(wider(a) - wider(b), a.kind),
    "mul.lo":         lambda a, b: a * b,
    "mul.hi":         multiply_high,
    "mul.wide":       lambda a, b: wider(a) * wider(b),
    "mad.lo":         lambda a, b, c: a * b + c,
    "mad.hi":         lambda a, b, c: multiply_high(a, b) + c,
    "mad.wide":       lambda a, b, c: wider(a) * wider(b) + c,
    "mul24.lo":       lambda a, b: low24(a) * low24(b),
    "mad24.lo":       lambda a, b, c: low24(a) * low24(b) + c,
    "sad":            lambda a, b, c: c + where(a < b, b - a, a - b),
    "div":            divide,
    "rem":            remainder,
    "abs":            intrinsic("abs", False),
    "neg":            lambda a: -a,
    "min":            least,
    "max":            largest,
    "and":            lambda a, b: a & b,
    "or":             lambda a, b: a | b,
    "xor":            lambda a, b: a ^ b,
    "not":            lambda a: ~a,
    "cnot":           lambda a: where(a == 0, a.like(1), 0),
    "shl":            shift_left,
    "shr":            shift_right,
    "shf.l.wrap":     lambda low, high, n: intrinsic("fshl")(high, low, n),
    "shf.r.wrap":     lambda low, high, n: intrinsic("fshr")(high, low, n),
    "shf.l.clamp":    funnel_clamp(left=True),
    "shf.r.clamp":    funnel_clamp(left=False),
    "popc":           count_bits("ctpop"),
    "clz":            count_bits("ctlz", False),
    "bfind":          find_highest(as_shift=False),
    "bfind.shiftamt": find_highest(as_shift=True),
    "brev":           intrinsic("bitreverse"),
    "bfe":            extract_field,
    "bfi":            insert_field,
    "prmt":           permute_bytes,
}
PREDICATE = {"mov", "and", "or", "xor", "not"}    # of the table above, and `mov`
ANY = {
    "mov":            lambda a: a,
    "selp":           lambda a, b, p: where(p, a, b),
}
FLOAT = {    # exact: the bits of a NaN are kept
    "abs":            intrinsic("fabs"),
    "neg":            lambda a: -a,
    "copysign":       lambda a, b: intrinsic("copysign")(b, a),
    "testp.number":   lambda a: ~is_nan(a),
    "testp.notanumber": is_nan,
}
ROUNDED = {    # rounded once; every NaN becomes the GPU's
    "add":            lambda a, b: a + b,
    "sub":            lambda a, b: a - b,
    "mul":            lambda a, b: a * b,
    "fma":            intrinsic("fma"),
    "mad":            intrinsic("fma"),
    "div":            lambda a, b: a / b,
    "rcp":            lambda a: a.like(1.0) / a,
    "sqrt":           square_root,
    "min":            intrinsic("minimumnum"),
    "max":            intrinsic("maximumnum"),
}
APPROXIMATE = {    # float32 only
    "rcp.approx":     approximately(lambda a: a.like(1.0) / a),
    "div.approx":     approximately(lambda a, b: a / b),
    "div.full":       approximately(lambda a, b: a / b),
    "sqrt.approx":    approximately(square_root),
    "rsqrt.approx":   approximately(lambda a: a.like(1.0) / square_root(a)),
}
COMPARE = {"eq": "eq", "ne": "ne", "lt": "<lt", "le": "<le", "gt": "<gt", "ge": "<ge",
           "lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}
COMPARE_FLOAT = {"eq": "oeq", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "ne": "one", "num": "ord",
                 "equ": "ueq", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "neu": "une", "nan": "uno"}
COMBINE = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


# ---- looking an instruction up --------------------------------------------------------------------------------------

def expression(opcode: tuple[str, ...]) -> Callable:
    """The function that computes an arithmetic instruction. Raises Unsupported for what is not in the tables."""
    types = [part for part in opcode[1:] if part in TYPES]
    modifiers = [part for part in opcode[1:] if part not in TYPES]
    if not types or "f16" in types:
        raise Unsupported(".".join(opcode))
    name, kind = opcode[0], types[-1]
    if name in ("setp", "set"):
        return comparison(modifiers, types)
    if name == "cvt":
        return conversion(modifiers, *types)
    if name == "slct":
        return lambda a, b, c: where(c >= (0.0 if c.kind[0] == "f" else 0), a, b)
    if kind[0] == "f" and name not in ANY:
        return float_expression(opcode, modifiers, kind)
    key, table = ".".join((name, *modifiers)), INTEGER | ANY
    if key not in table or kind == "pred" and key not in PREDICATE or bits(kind) == 64 and name in ("mul", "mad") \
            and "hi" in modifiers:
        raise Unsupported(".".join(opcode))
    return table[key]


def float_expression(opcode: tuple[str, ...], modifiers: list[str], kind: str) -> Callable:
    """Floats have modifiers of their own: a rounding, .ftz, .sat."""
    key = ".".join((opcode[0], *(m for m in modifiers if m not in ("rn", "ftz", "sat"))))
    function = (FLOAT | ROUNDED | (APPROXIMATE if kind == "f32" else {})).get(key)
    if function is None:
        raise Unsupported(".".join(opcode))

    def compute(*sources):
        if "ftz" in modifiers:
            sources = [flush(a) for a in sources]
        result = function(*sources)
        if key not in FLOAT:
            result = canonical(result)
        if "ftz" in modifiers and result.kind == "f32":
            result = flush(result)
        return saturate(result) if "sat" in modifiers else result
    return compute


def comparison(modifiers: list[str], types: list[str]) -> Callable:
    """setp gives a predicate, set all ones or 1.0; both may combine it with another predicate."""
    kind = types[-1]
    table = COMPARE_FLOAT if kind[0] == "f" else COMPARE
    wanted, combine = [m for m in modifiers if m in table], [m for m in modifiers if m in COMBINE]
    if len(wanted) != 1 or len(modifiers) != 1 + len(combine) or len(combine) > 1:
        raise Unsupported(f"a comparison {'.'.join(modifiers)}")

    def compute(a, b, *other):
        found = a.compare(table[wanted[0]], table[wanted[0]], b)
        found = COMBINE[combine[0]](found, *other) if combine else found
        if len(types) == 1:
            return found
        zero = a.f.constant(types[0], 0, 32)
        return where(found, zero.like(1.0 if types[0] == "f32" else -1), zero)
    return compute


def opposite(opcode: tuple[str, ...]) -> Callable:
    """The second result of setp p|q: the same with the comparison inverted."""
    plain = expression(tuple(part for part in opcode if part not in COMBINE))
    combine = next((COMBINE[part] for part in opcode if part in COMBINE), None)
    return lambda a, b, *other: combine(~plain(a, b), *other) if combine else ~plain(a, b)


def conversion(modifiers: list[str], to: str, source: str) -> Callable:
    """cvt between numbers."""
    mode = next((m for m in modifiers if m in TO_WHOLE), None)
    unknown = Unsupported(f"cvt.{'.'.join(modifiers)}.{to}.{source}")
    if any(m in ROUNDINGS and m != "rn" or m not in ("rn", "sat", mode) for m in modifiers):
        raise unknown
    sat = "sat" in modifiers
    if to[0] != "f" and source[0] != "f":
        return (lambda a: clamp(a, to)) if sat else (lambda a: a.to(to))
    if sat and to[0] == "f":
        raise unknown
    if source[0] != "f":
        return lambda a: a.cast("sitofp" if a.signed else "uitofp", to)
    if to[0] != "f":
        if not mode:
            raise unknown
        return lambda a: whole_number(intrinsic(WHOLE[mode])(a), to)
    if mode:
        if to != source:
            raise unknown
        return intrinsic(WHOLE[mode])
    if to == source:
        return canonical
    return (lambda a: a.cast("fpext", to)) if to == "f64" else (lambda a: canonical(a.cast("fptrunc", to)))
