"""A PTX module: its functions and variables, and which of its files hold the student's source."""

from __future__ import annotations

import re

from gemm_lab.emulator.ptx import SIZES, Parameter, Unsupported, Variable, number

SOURCE_FILE = "kernel.cu"    # the name under which the student's source is compiled

_FUNCTION = re.compile(r"\.(?:entry|func)\s*(?:\((?P<results>[^)]*)\)\s*)?(?P<name>[\w$]+)\s*"
                       r"(?:\((?P<parameters>[^)]*)\))?(?P<directives>[^;{]*)(?P<end>[;{])")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr(?:\s+\.\w+(?:\s+\d+)?)*\s+)?"
                        r"([\w$]+)(?:\[(\d+)\])?")
_VARIABLE = re.compile(r"\.(global|const|shared|local)\s+((?:\.\w+(?:\s+\d+(?=\s))?\s+)*?)\.([bsuf]\d+)\s+([\w$]+)"
                       r"((?:\s*\[\s*\d*\s*\])*)\s*(?:=\s*(\{[^}]*\}|[^;]+))?;")


class Module:
    """The text of a module, without comments, cut into functions."""

    def __init__(self, text: str):
        files = re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M)
        self.source_files = {int(n) for n, path in files if re.split(r"[/\\]", path)[-1] == SOURCE_FILE}
        self.text = re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
        self.functions = {m["name"]: m for m in _FUNCTION.finditer(self.text) if m["end"] == "{"}

    def body(self, function: str) -> str:
        """The text between the braces of a function."""
        start, depth = self.functions[function].end(), 1
        for brace in re.compile(r"[{}]").finditer(self.text, start):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                return self.text[start:brace.start()]
        raise Unsupported("the PTX ends inside a function")

    def parameters(self, function: str) -> tuple[Parameter, ...]:
        return parameters(self.functions[function]["parameters"])

    def results(self, function: str) -> tuple[Parameter, ...]:
        return parameters(self.functions[function]["results"])

    def outside(self) -> str:
        """The module without its functions."""
        text = self.text
        for name, m in reversed(self.functions.items()):
            text = text[:m.start()] + text[m.end() + len(self.body(name)) + 1:]
        return text

    def variables(self) -> dict[str, Variable]:
        """What is declared outside of functions."""
        return {m[4]: variable(m[0]) for m in _VARIABLE.finditer(self.outside())}


def parameters(text: str | None) -> tuple[Parameter, ...]:
    """The parameters (or results) in a function's head."""
    return tuple(Parameter(name, kind, SIZES[kind] * int(count or 1))
                 for kind, name, count in _PARAMETER.findall(text or ""))


def variable(statement: str) -> Variable:
    """The variable that a statement declares."""
    m = _VARIABLE.search(statement)
    if m is None:
        raise Unsupported(f"the declaration `{' '.join(statement.split())}`")
    space, modifiers, kind, name, dimensions, value = m.groups()
    align = re.search(r"\.align\s+(\d+)", modifiers)
    count = 1
    for n in re.findall(r"\[\s*(\d*)\s*\]", dimensions):
        count *= int(n or 0)
    size = SIZES[kind]
    return Variable(name, space, size * count, int(align[1]) if align else size, _data(value, size))


def _data(value: str | None, size: int) -> bytes:
    items = [item.strip() for item in value.strip("{} \n\t").split(",")] if value else []
    for item in items:
        if not re.match(r"[-+\d]", item):
            raise Unsupported(f"a table that holds the address of `{item}`, as for virtual functions")
    return b"".join((number(item) & (2**(8 * size) - 1)).to_bytes(size, "little") for item in items)


def max_threads(directives: str) -> int | None:
    """Threads of a block that __launch_bounds__ allow, if given."""
    sizes = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", directives)
    return int(sizes[1]) * int(sizes[2] or 1) * int(sizes[3] or 1) if sizes else None
