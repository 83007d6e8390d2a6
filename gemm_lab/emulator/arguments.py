"""The kernel's arguments: names and types from the source, checked and turned into bytes and arrays in memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from gemm_lab.compiler import scan
from gemm_lab.emulator.memory import Global
from gemm_lab.emulator.ptx import Parameter

_SIZED = {f"{u}int{bits}_t": getattr(np, f"{u}int{bits}") for u in ("", "u") for bits in (8, 16, 32, 64)}
_VECTORS = {f"{base}{n}": dtype for n in (2, 3, 4) for base, dtype in (
    ("float", np.float32), ("double", np.float64), ("int", np.int32), ("uint", np.uint32))}
C_TYPES = {
    "float": np.float32, "double": np.float64, "__half": np.float16, "half": np.float16, "bool": np.bool_,
    "char": np.int8, "signed char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16,
    "int": np.int32, "signed": np.int32, "signed int": np.int32, "unsigned": np.uint32, "unsigned int": np.uint32,
    "uint": np.uint32, "short int": np.int16, "long": np.int64, "long int": np.int64, "long long": np.int64,
    "long long int": np.int64, "unsigned long": np.uint64, "ptrdiff_t": np.int64,
    "unsigned long long": np.uint64, "size_t": np.uint64, **_SIZED, **_VECTORS,
}
_QUALIFIERS = re.compile(r"\b(const|volatile|__restrict__|__restrict|restrict|struct|__grid_constant__)\b|\b(std)?::")


@dataclass(frozen=True)
class Declared:
    """A parameter as the source declares it."""
    name: str
    text: str                       # "const float *A"
    pointer: bool | None            # None: a type name of the source's own, which may be either
    dtype: type | None              # of the number, or of what the pointer points to; None if unknown


def signature(source: str, entry: str) -> list[Declared] | None:
    """The parameters of a kernel in its C++ source, or None if they cannot be found (macros, for example)."""
    text = scan.without_comments(source)
    name = re.escape(entry.split("<")[0].split("::")[-1].strip())
    for m in re.finditer(rf"__global__[^;{{}}]*?\b{name}\s*\(", text):
        inside = _parenthesis(text, m.end())
        parts = [" ".join(p.split()) for p in _split(inside)]
        declared = [_declared(p) for p in parts if p and p != "void"]
        if all(declared):
            return declared
    return None


def _parenthesis(text: str, start: int) -> str:
    depth = 1
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return text[start:i]
    return ""


def _split(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "(<[{") - (c in ")>]}")
        if c == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return parts + [current]


def _declared(text: str) -> Declared | None:
    text = re.sub(r"\s*=.*", "", text)
    m = re.match(r"(.*?)(\w+)\s*((?:\[[^\]]*\]\s*)*)$", text)
    if not m or not m[1].strip():
        return None
    kind = _QUALIFIERS.sub(" ", m[1])
    dtype = C_TYPES.get(" ".join(kind.replace("*", " ").split()))
    pointer = True if "*" in kind or m[3] else None if dtype is None else False
    return Declared(m[2], text, pointer, dtype)


# ---- binding --------------------------------------------------------------------------------------------------------

def bind(parameters: tuple[Parameter, ...], declared: list[Declared] | None, arguments,
         memory: Global) -> dict[str, bytes]:
    """PTX parameter -> bytes of its argument; arrays are put into `memory`. Raises ValueError for what does not fit."""
    if declared is not None and len(declared) != len(parameters):
        declared = None
    arguments = list(arguments)
    if len(arguments) != len(parameters):
        wanted = f" ({', '.join(d.text for d in declared)})" if declared else ""
        raise ValueError(f"{len(arguments)} arguments were given; the kernel takes {len(parameters)}{wanted}")
    known = declared or [None] * len(parameters)
    return {p.name: _bytes(p, d, a, n, memory) for n, (p, d, a) in enumerate(zip(parameters, known, arguments), 1)}


def _bytes(parameter: Parameter, declared: Declared | None, argument, position: int, memory: Global) -> bytes:
    name = f"argument {declared.name} ({declared.text})" if declared else f"argument {position}"
    if isinstance(argument, np.ndarray) and argument.ndim == 0:
        argument = argument[()]
    is_array = isinstance(argument, np.ndarray)
    certain = declared is not None and declared.pointer is not None
    wants_array = declared.pointer if certain else is_array and parameter.type == "u64"
    if is_array != wants_array or not isinstance(argument, (np.ndarray, int, float, np.number, np.bool_)):
        wanted = "a NumPy array" if wants_array else "a number"
        raise ValueError(f"{name} is {_described(argument)}; it must be {wanted}")
    if wants_array:
        _check_array(name, argument, declared)
        region = memory.allocate(argument, declared.name if declared else f"argument {position}")
        return region.first.to_bytes(8, "little")
    return _number(name, argument, parameter, declared)


def _described(argument) -> str:
    if argument is None:
        return "None"
    if isinstance(argument, np.ndarray):
        return f"an array of {argument.dtype}"
    return f"a {type(argument).__name__}"


def _check_array(name: str, array: np.ndarray, declared: Declared | None) -> None:
    wanted = declared.dtype if declared else None
    byte_sized = wanted == np.bool_ and array.dtype == np.uint8
    if wanted is not None and array.dtype != np.dtype(wanted) and not byte_sized:
        raise ValueError(f"{name} is an array of {array.dtype}; it must be {np.dtype(wanted).name}")
    if array.dtype.kind not in "biuf" or not array.dtype.isnative:
        raise ValueError(f"{name} is an array of {array.dtype}; it must hold numbers")
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not C-contiguous (row by row, without gaps); use np.ascontiguousarray")


def _number(name: str, value, parameter: Parameter, declared: Declared | None) -> bytes:
    if parameter.type == "b8":
        raise ValueError(f"{name} is a struct; only numbers and arrays can be passed")
    dtype = np.dtype(declared.dtype if declared and declared.dtype else
                     f"{'f' if parameter.type[0] == 'f' else 'i'}{parameter.size}")
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            rounded = dtype.type(float(value))
        if np.isfinite(float(value)) and not np.isfinite(rounded):
            raise ValueError(f"{name} is {value}, which is too large for {dtype.name}")
        return rounded.tobytes()
    if isinstance(value, (float, np.floating)):
        raise ValueError(f"{name} is {value!r}; it must be a whole number")
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not declared:    # the PTX does not say whether the number has a sign
        high = np.iinfo(f"u{parameter.size}").max
    if not low <= int(value) <= high:
        raise ValueError(f"{name} is {value}; {dtype.name} holds {low} to {high}")
    return (int(value) % 2**(8 * parameter.size)).to_bytes(parameter.size, "little")
