"""Rows and columns of a kernel's shared arrays, from their declarations: the PTX knows only how many bytes they have.

A declaration such as `__shared__ float As[BM][BK + 1]` is read with the template arguments of the entry and the
source's own constants. One that cannot be read is left out, and its array is shown as one row.
"""

from __future__ import annotations

import ast
import operator
import re

from gemm_lab.compiler import scan

_DECLARATION = re.compile(r"__shared__\s+(?:__align__\s*\(\s*\d+\s*\)\s*|alignas\s*\(\s*\d+\s*\)\s*)?"
                          r"[\w:]+\s+(?P<names>[^;]+);")
_ARRAY = re.compile(r"(\w+)\s*((?:\[[^\]]*\])+)")
_CONSTANT = re.compile(r"(?:#define\s+(\w+)\s+([^\n]+)|\b(?:const|constexpr)\s+\w[\w\s]*?\b(\w+)\s*=\s*([^;,]+)[;,])")
_OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
               ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift}


def declared_shapes(source: str, entry: str) -> dict[str, tuple[int, int]]:
    """Array -> (rows, columns), for every shared array whose sizes are plain arithmetic on known constants."""
    text = scan.without_comments(source)
    known = template_arguments(text, entry)
    for name, value, other, other_value in _CONSTANT.findall(text):
        known.setdefault(name or other, value or other_value)
    shapes = {}
    for declaration in _DECLARATION.finditer(text):
        for name, sizes in _ARRAY.findall(declaration["names"]):
            try:
                *rows, columns = [number(size, known) for size in re.findall(r"\[([^\]]*)\]", sizes)]
            except (ValueError, SyntaxError, ZeroDivisionError, RecursionError):
                continue
            shapes[name] = _product(rows), columns
    return shapes


def template_arguments(text: str, entry: str) -> dict[str, str]:
    """Template parameter -> argument, as text."""
    name, _, arguments = entry.partition("<")
    head = re.search(rf"template\s*<([^>]*)>[^;{{}}]*?\b{re.escape(name.strip())}\s*\(", text)
    if not head or not arguments:
        return {}
    names = [parameter.split("=")[0].split()[-1] for parameter in head[1].split(",") if parameter.strip()]
    return dict(zip(names, (argument.strip() for argument in arguments.rstrip("> ").split(","))))


def number(text: str, known: dict[str, str]) -> int:
    """The value of an expression; ValueError if it is not whole-number arithmetic on known names."""
    return _value(ast.parse(text.strip(), mode="eval").body, known)


def _value(node, known: dict[str, str]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and node.id in known:
        return number(known[node.id], {name: text for name, text in known.items() if name != node.id})
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, known), _value(node.right, known))
    raise ValueError(ast.dump(node))


def _product(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
