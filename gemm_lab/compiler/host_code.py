"""Host code in the file of a kernel. NVRTC compiles device code only and calls every host function an error.

A whole program, with `main` and its cudaMalloc, is a usual thing to have in one file. So when the compiler reports host
code, the declarations with errors are blanked out, every other line staying where it was, and the rest is compiled
again. A declaration that says `__device__` or `__global__` anywhere is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gemm_lab.compiler.diagnostics import Diagnostic
from gemm_lab.compiler.scan import Declaration, blank, code_only, declarations

_HOST = "not allowed in JIT mode"       # in every complaint of NVRTC about host code
_DEVICE = r"__(?:global|device|constant|shared|managed)__"


@dataclass(frozen=True)
class Dropped:
    """A source without its host code, and for each name that was left out a sentence saying why."""

    source: str
    reasons: dict[str, str]


def drop(source: str, errors: Sequence[Diagnostic]) -> Dropped | None:
    """Blank out host declarations that `errors` name; None if they name none.

    A kernel may use the value of a `constexpr` function, so these are marked `__device__` instead.
    """
    if not any(_HOST in error.message for error in errors):
        return None
    code, text, reasons = code_only(source), source, {}
    for declaration, found in reversed(_faulty(source, code, errors)):      # from the end: earlier places stay valid
        start, end = declaration.start, declaration.end
        head = code[start:declaration.head_end]
        constant = re.search(r"\bconstexpr\b", head)
        if constant:
            at = start + constant.start()
            text = f"{text[:at]}__device__ {text[at:]}"
        else:
            line = code.count("\n", 0, start + len(head) - len(head.lstrip())) + 1
            reasons |= {name: _reason(name, line, found) for name in _declared(head, code[start:end])}
            text = text[:start] + blank(text[start:end]) + text[end:]
    return None if text == source else Dropped(text, reasons)


def _faulty(source: str, code: str, errors: Iterable[Diagnostic]) -> list[tuple[Declaration, list[Diagnostic]]]:
    """Declarations without device code that have errors, with these."""
    macros = re.findall(rf"^[ \t]*#[ \t]*define[ \t]+(\w+)\b.*{_DEVICE}", source, re.MULTILINE)
    device = re.compile(rf"\b(?:{'|'.join([_DEVICE, *macros])})\b")
    starts = [0, *(match.end() for match in re.finditer("\n", code))]
    places = [(starts[e.line - 1] + (e.column or 1) - 1, e) for e in errors if e.line is not None]
    inside = [(d, [error for at, error in places if d.start <= at < d.end]) for d in declarations(code)]
    return [(d, found) for d, found in inside if found and not device.search(code, d.start, d.end)]


def _declared(head: str, whole: str) -> list[str]:
    """The names that a declaration introduces: "f" of `void f(int n) {}`, "a" and "b" of `int *a, b = 3;`."""
    head = re.sub(r"^\s*template\s*<[^{}]*>(?=\s*[\w:])", "", head).partition("(")[0]
    tail = whole.rpartition("}")[2] if head.split()[:1] == ["typedef"] else ""
    return re.findall(r"([A-Za-z_]\w*)\s*(?:$|[=,;\[])", f"{head.rstrip()};{tail}")


def _reason(name: str, line: int, errors: list[Diagnostic]) -> str:
    if any(_HOST in error.message for error in errors):
        return f"{name} is host code (line {line}): a kernel can use only what is marked __device__"
    return f"{name} (line {line}) was left out because of an error on line {errors[0].line}: {errors[0].message}"


def explain(diagnostic: Diagnostic, reasons: dict[str, str]) -> Diagnostic:
    """Add the cure to an error that comes from host code: a name that was left out, or a host function that stayed."""
    missing = re.match(r'identifier "(\w+)" is undefined', diagnostic.message)
    if missing and missing[1] in reasons:
        hint = reasons[missing[1]]
    elif _HOST in diagnostic.message:
        hint = "this is host code: leave it out of the file, or mark it __host__ __device__"
    else:
        return diagnostic
    return replace(diagnostic, message=f"{diagnostic.message}\n      {hint}")
