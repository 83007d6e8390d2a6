"""What a student answered, read from the text of a cell. The cell is parsed and never executed.

    w = 32 / 4 + 1                          a number
    words = "2*M*N*K"                       a text: a formula, a choice, or CUDA
    lines = {12, 15}                        a collection
    tile = gl.RegisterTiling1D(BM=64, …)    a course kernel

The answer is the last value that the cell gives to the task's name. Earlier lines may give names to numbers.
"""

from __future__ import annotations

import ast

from gemm_lab.exercises.expressions import Unreadable, value_of

LONGEST_CELL = 100_000      # characters
MOST_ITEMS = 1000           # of a collection
READABLE = ("the grader takes literal answers out of the cell and runs nothing: a number, arithmetic, a text in "
            "quotes, a "
            "list, or a kernel such as gl.SharedTiling(TILE=16)")


def read_answer(source: str, name: str):
    """The answer that a cell gives to `name`; None if it gives none, Unreadable for what is no literal."""
    known, answer = {}, None
    for target, value in assignments(source):
        if target == name:
            answer = literal(value, known)
        if isinstance(value, ast.Constant | ast.BinOp | ast.UnaryOp):
            _remember(known, target, value)
    return answer


def has_function(source: str, name: str) -> bool:
    """Whether the cell defines a function of that name."""
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in _tree(source).body)


def assignments(source: str):
    """(name, value) of the simple assignments at the top of a cell, in order."""
    for node in _tree(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _tree(source: str) -> ast.Module:
    if len(source) > LONGEST_CELL:
        raise Unreadable(f"the cell has {len(source):,} characters; it may have {LONGEST_CELL:,}")
    python = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n"))
    try:
        return ast.parse(python)
    except SyntaxError as error:
        raise Unreadable(f"the cell is no Python: {error.msg} in its line {error.lineno}") from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable("the cell is no Python that can be read") from None


def _remember(known: dict, name: str, value: ast.expr) -> None:
    try:
        known[name] = value_of(value, known)
    except Unreadable:
        known.pop(name, None)


def literal(node: ast.expr, known: dict):
    """The value of a literal, in which names may stand for the numbers in `known`."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)):
        return node.value
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [literal(item, known) for item in _few(node.elts)]
    if isinstance(node, ast.Call) and _is_kernel(node):
        return _kernel(node)
    try:
        return value_of(node, known)
    except Unreadable as error:
        raise Unreadable(f"{error}. {READABLE[0].upper()}{READABLE[1:]}") from None


def _few(items: list) -> list:
    if len(items) > MOST_ITEMS:
        raise Unreadable(f"the answer has {len(items):,} items; at most {MOST_ITEMS:,}")
    return items


def _is_kernel(node: ast.Call) -> bool:
    return ast.unparse(node.func).removeprefix("gl.")[:1].isupper()


def _kernel(node: ast.Call):
    from gemm_lab.cli_kernels import course_kernel
    try:
        return course_kernel(ast.unparse(node).removeprefix("gl."))
    except ValueError as error:
        raise Unreadable(str(error)) from None
