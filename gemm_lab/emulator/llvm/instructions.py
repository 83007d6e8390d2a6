"""The instruction set once more: one table from a PTX instruction to the LLVM IR that computes it for a warp.

`gemm_lab.emulator.instructions` defines what an instruction computes and gives the types of its operands. A row here
is either a line of IR, in which {T} is the vector type, {t} its name in LLVM's intrinsics and {0}, {1}, ... are the
sources, or a function that writes several lines. What is not in the table is left to the NumPy back end.
"""

from __future__ import annotations

from gemm_lab.emulator.instructions import ROUNDINGS, TO_WHOLE, TYPES
from gemm_lab.emulator.llvm.ir import Writer, bits, element, splat, vector
from gemm_lab.emulator.ptx import Unsupported


def shift(operation: str):
    """A shift whose count may exceed the width: LLVM leaves that undefined, PTX gives 0, or only signs."""
    def write(w: Writer, kind: str, a, count):
        T, width = vector(kind), bits(kind)
        least = w.op(f"call <32 x i32> @llvm.umin.v32i32(<32 x i32> {count}, <32 x i32> {splat('i32', width - 1)})")
        shifted = w.op(f"{operation} {T} {a}, {w.resize(least, 'u32', 'u' + kind[1:])}")
        if operation == "ashr":
            return shifted
        inside = w.op(f"icmp ult <32 x i32> {count}, {splat('i32', width)}")
        return w.op(f"select <32 x i1> {inside}, {T} {shifted}, {T} zeroinitializer")
    return write


def multiply(part: str):
    """The whole product in twice as many bits ("wide"), or its upper half ("hi"); with a third source, added."""
    def write(w: Writer, kind: str, a, b, *c):
        double = kind[0] + str(2 * bits(kind))
        T = vector(double)
        product = w.op(f"mul {T} {w.resize(a, kind, double)}, {w.resize(b, kind, double)}")
        result = double
        if part == "hi":
            upper = w.op(f"lshr {T} {product}, {splat(element(double), bits(kind))}")
            product, result = w.resize(upper, double, kind), kind
        return w.op(f"add {vector(result)} {product}, {c[0]}") if c else product
    return write


def divide(remainder: bool):
    """Division by 0 gives all ones (the remainder is then a); -2^31 / -1 must not trap."""
    def write(w: Writer, kind: str, a, b):
        T, t, signed = vector(kind), element(kind), kind[0] == "s"
        zero = w.op(f"icmp eq {T} {b}, zeroinitializer")
        minus = w.op(f"icmp eq {T} {b}, {splat(t, -1 if signed else 0)}")
        easy = w.op(f"or <32 x i1> {zero}, {minus}")
        safe = w.op(f"select <32 x i1> {easy}, {T} {splat(t, 1)}, {T} {b}")
        quotient = w.op(f"{'sdiv' if signed else 'udiv'} {T} {a}, {safe}")
        if signed:
            negative = w.op(f"sub {T} zeroinitializer, {a}")
            quotient = w.op(f"select <32 x i1> {minus}, {T} {negative}, {T} {quotient}")
        if not remainder:
            return w.op(f"select <32 x i1> {zero}, {T} {splat(t, -1)}, {T} {quotient}")
        rest = w.op(f"sub {T} {a}, {w.op(f'mul {T} {quotient}, {b}')}")
        return w.op(f"select <32 x i1> {zero}, {T} {a}, {T} {rest}")
    return write


def low_mask(w: Writer, kind: str, length):
    """The lowest `length` bits set; at most all of them."""
    ones = shift("shl")(w, kind, splat(element(kind), -1), length)
    return w.op(f"xor {vector(kind)} {ones}, {splat(element(kind), -1)}")


def insert_field(w: Writer, kind: str, a, b, position, length):
    """bfi: b with `length` bits from `position` on replaced by the lowest bits of a."""
    T, minus = vector(kind), splat(element(kind), -1)
    position, length = (w.op(f"and <32 x i32> {x}, {splat('i32', 255)}") for x in (position, length))
    mask = shift("shl")(w, kind, low_mask(w, kind, length), position)
    new = w.op(f"and {T} {shift('shl')(w, kind, a, position)}, {mask}")
    old = w.op(f"and {T} {b}, {w.op(f'xor {T} {mask}, {minus}')}")
    return w.op(f"or {T} {new}, {old}")


def extract_field(w: Writer, kind: str, a, position, length):
    """bfe of unsigned numbers: `length` bits of a from `position` on."""
    if kind[0] != "u":
        raise Unsupported("bfe of signed numbers")
    position, length = (w.op(f"and <32 x i32> {x}, {splat('i32', 255)}") for x in (position, length))
    return w.op(f"and {vector(kind)} {shift('lshr')(w, kind, a, position)}, {low_mask(w, kind, length)}")


def count_bits(intrinsic: str, flag: str = ""):
    """popc and clz: the result has 32 bits, whatever the source has."""
    def write(w: Writer, kind: str, a):
        T, kind = vector(kind), "u" + kind[1:]
        return w.resize(w.op(f"call {T} @llvm.{intrinsic}.v32{element(kind)}({T} {a}{flag})"), kind, "u32")
    return write


def call(intrinsic: str, sources: int, flag: str = "") -> str:
    """A line that calls an intrinsic of LLVM."""
    return f"call {{T}} @llvm.{intrinsic}.v32{{t}}(" + ", ".join(f"{{T}} {{{k}}}" for k in range(sources)) + flag + ")"


# ---- the tables -----------------------------------------------------------------------------------------------------

INTEGER = {
    "add":         "add {T} {0}, {1}",
    "sub":         "sub {T} {0}, {1}",
    "mul.lo":      "mul {T} {0}, {1}",
    "mad.lo":      lambda w, kind, a, b, c: w.op(f"add {vector(kind)} {w.op(f'mul {vector(kind)} {a}, {b}')}, {c}"),
    "mul.hi":      multiply("hi"),
    "mad.hi":      multiply("hi"),
    "mul.wide":    multiply("wide"),
    "mad.wide":    multiply("wide"),
    "div":         divide(remainder=False),
    "rem":         divide(remainder=True),
    "abs":         call("abs", 1, ", i1 false"),
    "neg":         "sub {T} zeroinitializer, {0}",
    "and":         "and {T} {0}, {1}",
    "or":          "or {T} {0}, {1}",
    "xor":         "xor {T} {0}, {1}",
    "not":         lambda w, kind, a: w.op(f"xor {vector(kind)} {a}, {splat(element(kind), -1)}"),
    "shl":         shift("shl"),
    "shf.l.wrap":  lambda w, kind, low, high, n: w.line(call("fshl", 3), kind, high, low, n),
    "shf.r.wrap":  lambda w, kind, low, high, n: w.line(call("fshr", 3), kind, high, low, n),
    "popc":        count_bits("ctpop"),
    "clz":         count_bits("ctlz", ", i1 false"),
    "brev":        call("bitreverse", 1),
    "bfe":         extract_field,
    "bfi":         insert_field,
}
SIGNED = {"min": call("smin", 2), "max": call("smax", 2), "shr": shift("ashr")}
UNSIGNED = {"min": call("umin", 2), "max": call("umax", 2), "shr": shift("lshr")}

FLOAT = {    # exact: the bits of a NaN are kept
    "abs":         call("fabs", 1),
    "neg":         "fneg {T} {0}",
    "copysign":    lambda w, kind, a, b: w.line(call("copysign", 2), kind, b, a),
}
ROUNDED = {    # rounded once; every NaN becomes the GPU's
    "add":         "fadd {T} {0}, {1}",
    "sub":         "fsub {T} {0}, {1}",
    "mul":         "fmul {T} {0}, {1}",
    "fma":         call("fma", 3),
    "mad":         call("fma", 3),
    "div":         "fdiv {T} {0}, {1}",
    "rcp":         lambda w, kind, a: w.op(f"fdiv {vector(kind)} {splat(element(kind), '1.0')}, {a}"),
    "sqrt":        call("sqrt", 1),
    "min":         call("minimumnum", 2),
    "max":         call("maximumnum", 2),
}
ANY = {
    "mov":         lambda w, kind, a: a,
    "selp":        "select <32 x i1> {2}, {T} {0}, {T} {1}",
}
COMPARE = {"eq": "eq", "ne": "ne", "lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge"}
ORDER = ("lt", "le", "gt", "ge")    # signed or unsigned, as the type says
COMPARE_FLOAT = {"eq": "oeq", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "ne": "one", "num": "ord",
                 "equ": "ueq", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "neu": "une", "nan": "uno"}
WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


# ---- looking an instruction up --------------------------------------------------------------------------------------

def translate(w: Writer, opcode: tuple[str, ...], values: list[str]) -> tuple[str, bool]:
    """Write the IR of an arithmetic instruction. Returns its result, and whether a NaN in it may not be the GPU's yet.

    Raises Unsupported for what is not in the tables.
    """
    types = [part for part in opcode[1:] if part in TYPES]
    modifiers = [part for part in opcode[1:] if part not in TYPES]
    name, kind = opcode[0], types[-1]
    if name == "setp":
        return comparison(w, modifiers, kind, values), False
    if name == "cvt":
        return conversion(w, modifiers, *types, values[0])
    if kind[0] == "f" and name not in ANY:
        if any(m in ROUNDINGS and m != "rn" for m in modifiers):
            raise Unsupported(".".join(opcode))
        modifiers = [m for m in modifiers if m != "rn"]
        table = FLOAT | ROUNDED
    else:
        table = INTEGER | ANY | {"s": SIGNED, "u": UNSIGNED}.get(kind[0], {"shr": shift("lshr")})
    key = ".".join((name, *modifiers))
    if key not in table or kind == "f16":
        raise Unsupported(".".join(opcode))
    return w.line(table[key], kind, *values), kind == "f32" and key in ROUNDED


def takes_any_nan(opcode: tuple[str, ...]) -> bool:
    """Whether an instruction does not care which NaN it reads."""
    return opcode[-1] == "f32" and (opcode[0] in ROUNDED or opcode[0] == "setp")


def comparison(w: Writer, modifiers: list[str], kind: str, values: list[str]) -> str:
    """setp, perhaps combined with another predicate."""
    names = ORDER + tuple(COMPARE if kind[0] != "f" else COMPARE_FLOAT)
    combine = [m for m in modifiers if m in ("and", "or", "xor")]
    wanted = [m for m in modifiers if m in names]
    if len(wanted) != 1 or len(modifiers) != 1 + len(combine):
        raise Unsupported(f"setp.{'.'.join(modifiers)}")
    if kind[0] == "f":
        found = w.op(f"fcmp {COMPARE_FLOAT[wanted[0]]} {vector(kind)} {values[0]}, {values[1]}")
    else:
        test = COMPARE.get(wanted[0]) or ("u" if kind[0] == "u" else "s") + wanted[0]
        found = w.op(f"icmp {test} {vector(kind)} {values[0]}, {values[1]}")
    return w.op(f"{combine[0]} <32 x i1> {found}, {values[2]}") if combine else found


def conversion(w: Writer, modifiers: list[str], to: str, source: str, a: str) -> tuple[str, bool]:
    """cvt between numbers."""
    mode = next((m for m in modifiers if m in TO_WHOLE), None)
    if any(m not in ("rn", mode) for m in modifiers) or "f16" in (to, source):
        raise Unsupported(f"cvt.{'.'.join(modifiers)}.{to}.{source}")
    T, S = vector(to), vector(source)
    if to[0] != "f" and source[0] != "f":
        return w.resize(a, source, to), False
    if source[0] != "f":
        return w.op(f"{'sitofp' if source[0] == 's' else 'uitofp'} {S} {a} to {T}"), False
    if mode and (to == source or to[0] != "f"):
        a = w.line(call(WHOLE[mode], 1), source, a)
    if to[0] != "f":
        if source != "f32" or bits(to) > 32 or not mode:    # elsewhere a NaN does not become 0
            raise Unsupported(f"cvt.{to}.{source}")
        return w.op(f"call {T} @llvm.fpto{'s' if to[0] == 's' else 'u'}i.sat.v32{element(to)}.v32f32({S} {a})"), False
    if to == source:
        return a, False
    if mode:
        raise Unsupported(f"cvt.{mode}.{to}.{source}")
    return (w.op(f"fpext {S} {a} to {T}"), False) if to == "f64" else (w.op(f"fptrunc {S} {a} to {T}"), True)

