"""Functions of CUDA's mathematical library that are one PTX instruction.

Optimised PTX holds the instruction; unoptimised PTX calls the function, which is linked to it later (CUDA Math API
reference; libdevice user's guide). A row gives the instruction, and the order of the arguments where that is another.
"""

from __future__ import annotations

_ROUNDINGS = {"rn": "rn", "rz": "rz", "rd": "rm", "ru": "rp"}    # the function's suffix -> the instruction's

INSTRUCTIONS = {
    "fmaf": "fma.rn.f32", "fma": "fma.rn.f64", "sqrtf": "sqrt.rn.f32", "sqrt": "sqrt.rn.f64",
    "fminf": "min.f32", "fmaxf": "max.f32", "fmin": "min.f64", "fmax": "max.f64", "fabsf": "abs.f32", "fabs": "abs.f64",
    "min": "min.s32", "max": "max.s32", "umin": "min.u32", "umax": "max.u32", "abs": "abs.s32",
    "llmin": "min.s64", "llmax": "max.s64", "ullmin": "min.u64", "ullmax": "max.u64", "llabs": "abs.s64",
    "__fdividef": "div.full.f32", "rsqrtf": "rsqrt.approx.f32", "__saturatef": "cvt.sat.f32.f32",
    "copysignf": "copysign.f32 1 0", "__isnanf": "set.nan.s32.f32 0 0", "__isnand": "set.nan.s32.f64 0 0",
    "floorf": "cvt.rmi.f32.f32", "ceilf": "cvt.rpi.f32.f32", "truncf": "cvt.rzi.f32.f32", "rintf": "cvt.rni.f32.f32",
    "__popc": "popc.b32", "__popcll": "popc.b64", "__clz": "clz.b32", "__clzll": "clz.b64", "__brev": "brev.b32",
    "__mul24": "mul24.lo.s32", "__umul24": "mul24.lo.u32", "__mulhi": "mul.hi.s32", "__umulhi": "mul.hi.u32",
    "__byte_perm": "prmt.b32",
    **{f"__f{name}_{c}": f"{ptx}.{r}.f32" for c, r in _ROUNDINGS.items() for name, ptx in (
        ("add", "add"), ("sub", "sub"), ("mul", "mul"), ("maf", "fma"), ("div", "div"), ("rcp", "rcp"),
        ("sqrt", "sqrt"))},
    **{f"__d{name}_rn": f"{name}.rn.f64" for name in ("add", "sub", "mul", "div")}, "__fma_rn": "fma.rn.f64",
    **{f"__float2{to}_{c}": f"cvt.{r}i.{ptx}.f32" for c, r in _ROUNDINGS.items() for to, ptx in (
        ("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"))},
    **{f"__{source}2float_rn": f"cvt.rn.f32.{ptx}" for source, ptx in (
        ("int", "s32"), ("uint", "u32"), ("ll", "s64"), ("ull", "u64"))},
}


def instruction(function: str, arguments: tuple) -> tuple[tuple[str, ...], tuple] | None:
    """The opcode of a function, and its sources; None if it is no single instruction."""
    if function not in INSTRUCTIONS:
        return None
    opcode, *order = INSTRUCTIONS[function].split()
    sources = tuple(arguments[int(n)] for n in order) if order else arguments
    return tuple(opcode.split(".")), sources
