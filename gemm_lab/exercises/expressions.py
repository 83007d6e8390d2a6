"""Arithmetic in a student's words: "2*M*N*K", "ceil(N/TX)*M*K". It is parsed and never handed to Python's eval.

Numbers, names, + - * / // % **, parentheses and a few functions; everything else is `Unreadable`, with the reason.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from numbers import Real

LONGEST = 500           # characters of an expression
LARGEST = 10.0**100     # of a value on the way: 9**9**9 shall neither take memory nor time
STEEPEST = 64           # exponent


class Unreadable(ValueError):
    """An answer that is not in a form that can be read; the message says what is allowed."""


_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
           ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_FUNCTIONS = {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max, "gcd": math.gcd, "round": round,
              "sqrt": math.sqrt}
_SIGNS = str.maketrans({"·": "*", "×": "*", "−": "-", "÷": "/"})
ALLOWED = f"numbers, + - * / // % **, parentheses and {', '.join(_FUNCTIONS)}"


def evaluate(text: str, names: Mapping[str, Real] | None = None) -> Real:
    """The value of an expression whose names have these values; Unreadable for anything but arithmetic."""
    return value_of(parse(text), names or {})


def parse(text: str) -> ast.expr:
    """The tree of an expression; Unreadable where it is none."""
    text = text.strip().translate(_SIGNS)
    if len(text) > LONGEST:
        raise Unreadable(f"the formula has {len(text):,} characters; it may have {LONGEST}")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable(f"{text!r} is no arithmetic: write it as in Python, with {ALLOWED}") from None


def names_in(text: str) -> set[str]:
    """The names that an expression uses, functions left out."""
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)} - set(_FUNCTIONS)


def value_of(node: ast.expr, names: Mapping[str, Real]) -> Real:
    """The value of a parsed expression."""
    try:
        value = _value(node, names)
    except ZeroDivisionError:
        raise Unreadable("the formula divides by zero") from None
    except (TypeError, OverflowError, RecursionError, MemoryError):
        raise Unreadable(f"this is no number; allowed are {ALLOWED}") from None
    except ValueError as error:
        raise error if isinstance(error, Unreadable) else Unreadable(f"this is no number: {error}") from None
    return value


def _value(node: ast.expr, names: Mapping[str, Real]) -> Real:
    if isinstance(node, ast.Constant):
        return _number(node.value)
    if isinstance(node, ast.Name):
        return _named(node.id, names)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _combined(node, _value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.Call) and not node.keywords:
        return _number(_function(node.func)(*(_value(argument, names) for argument in node.args)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        raise Unreadable("^ is no power in Python: write **")
    raise Unreadable(f"{ast.unparse(node)[:60]!r} cannot be read here; allowed are {ALLOWED}")


def _number(value) -> Real:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise Unreadable(f"{value!r} is no number")
    if not abs(value) <= LARGEST:
        raise Unreadable("a number in the formula is too large")
    return value


def _named(name: str, names: Mapping[str, Real]) -> Real:
    if name not in names:
        apart = "*".join(name) if len(name) > 1 and set(name) <= set(names) else ""
        hint = f"; write {apart}" if apart else f"; known are {', '.join(names) or 'no names'}"
        raise Unreadable(f"{name!r} is unknown{hint}")
    return names[name]


def _combined(node: ast.BinOp, left: Real, right: Real) -> Real:
    if isinstance(node.op, ast.Pow) and abs(right) > STEEPEST:
        raise Unreadable(f"a power of {right} is too steep; at most {STEEPEST}")
    return _number(_BINARY[type(node.op)](left, right))


def _function(node: ast.expr):
    plain = node.attr if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("math", "np") else None
    name = plain or (node.id if isinstance(node, ast.Name) else "")
    if name not in _FUNCTIONS:
        raise Unreadable(f"{ast.unparse(node)[:60]!r} is no function that can be used here; there are "
                         f"{', '.join(_FUNCTIONS)}")
    return _FUNCTIONS[name]
