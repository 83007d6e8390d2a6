"""Writing LLVM IR: types, constants, and a list of lines. A register of a warp is a vector of 32 lanes."""

from __future__ import annotations

import itertools
import re

import numpy as np

from gemm_lab.emulator.ptx import SIZES

_DECLARED = re.compile(r"call (<32 x \w+>) @(llvm\.[\w.]+)\((.*)\)$")


def bits(kind: str) -> int:
    """The width of a PTX type."""
    return 1 if kind == "pred" else 8 * SIZES[kind] if kind in SIZES else int(kind[1:])


def element(kind: str) -> str:
    """The LLVM type of one lane of a PTX type."""
    return {"f32": "float", "f64": "double", "f16": "half"}.get(kind, f"i{bits(kind)}")


def vector(kind: str) -> str:
    """The LLVM type of a register of a warp."""
    return f"<32 x {element(kind)}>"


def splat(t: str, value) -> str:
    """A constant in all lanes; `t` is an LLVM type."""
    return "<" + ", ".join([f"{t} {value}"] * 32) + ">"


def constant(value: np.generic, kind: str) -> str:
    """A NumPy scalar as a constant in all lanes of PTX type `kind`."""
    if kind == "pred":
        return splat("i1", "true" if value else "false")
    size = value.dtype.itemsize
    number = splat(f"i{8 * size}", int(value.view(f"i{size}")))
    return f"bitcast (<32 x i{8 * size}> {number} to {vector(kind)})" if kind[0] == "f" else number


class Writer:
    """Collects the lines of a function, and the intrinsics that they call."""

    def __init__(self):
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.number = itertools.count()

    def op(self, text: str) -> str:
        """Write `%name = text` and return the name."""
        name = f"%v{next(self.number)}"
        self.lines.append(f"  {name} = {text}")
        self.declare(text)
        return name

    def do(self, text: str) -> None:
        """Write a line that has no result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def declare(self, text: str) -> None:
        """Remember the declaration of an intrinsic that a line calls."""
        m = _DECLARED.match(text)
        if m:
            arguments = re.findall(r"(<32 x \w+>|i1) ", _flat(m[3]))
            self.declarations.add(f"declare {m[1]} @{m[2]}({', '.join(arguments)})")

    def line(self, row, kind: str, *values: str) -> str:
        """Write a row of the instruction tables."""
        if callable(row):
            return row(self, kind, *values)
        name = {"f32": "f32", "f64": "f64"}.get(kind, element(kind))
        return self.op(row.format(*values, T=vector(kind), t=name))

    def resize(self, value: str, have: str, want: str) -> str:
        """An integer in more bits (extended by its sign, if `have` has one) or in fewer."""
        if bits(have) == bits(want):
            return value
        how = "trunc" if bits(have) > bits(want) else "sext" if have[0] == "s" else "zext"
        return self.op(f"{how} {vector(have)} {value} to {vector(want)}")

    def broadcast(self, t: str, scalar: str) -> str:
        """A scalar in all lanes."""
        one = self.op(f"insertelement <32 x {t}> poison, {t} {scalar}, i32 0")
        return self.op(f"shufflevector <32 x {t}> {one}, <32 x {t}> poison, <32 x i32> zeroinitializer")

    def load(self, t: str, pointer: str, offset: int) -> str:
        """What lies `offset` bytes behind a pointer."""
        return self.op(f"load {t}, ptr {self.at(pointer, offset)}, align 1")

    def at(self, pointer: str, offset: int) -> str:
        """A pointer, moved by a number of bytes."""
        return self.op(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer


def _flat(text: str) -> str:
    """Arguments without the contents of constants."""
    text = re.sub(r"<(?:\w+ [-\w.]+, ){31}\w+ [-\w.]+>", "%c", text)
    return re.sub(r"bitcast \(<32 x \w+> %c to <32 x \w+>\)", "%c", text)
